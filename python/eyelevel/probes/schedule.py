"""Compute when the rounds of a repeated measurement are due (pure)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rounds:
    """Rounds at multiples of a period after a start that outlives restarts.

    A round that would begin while another one runs, or while the program is stopped, is skipped and
    not repeated later, so that rounds never overlap or bunch.
    """

    began_unix_s: float
    every_s: float
    for_s: float

    @property
    def count(self) -> int:
        """Total number of rounds."""
        return max(1, int(-(-self.for_s // self.every_s)))

    def next_after(self, now_unix_s: float, last: int | None) -> int | None:
        """Return the number of the round to begin next, from 0; None when all are over.

        `last` is the last round that was begun.
        """
        elapsed_s = now_unix_s - self.began_unix_s
        due = int(elapsed_s // self.every_s) if elapsed_s > 0 else 0
        late_s = elapsed_s - due * self.every_s
        number = due if late_s <= 1.0 or (last is None and due == 0) else due + 1
        if last is not None:
            number = max(number, last + 1)
        return number if number < self.count else None

    def due_unix_s(self, number: int) -> float:
        """Return when a round is due, Unix time in seconds."""
        return self.began_unix_s + number * self.every_s
