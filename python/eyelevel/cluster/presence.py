"""What is told of machines that a run waits for."""

import time
from collections.abc import Callable, Collection

from eyelevel.cluster.names import SlotName

NOBODY_S = 600.0
"""How long a run waits before it says that it waits."""


class Presence:
    """Of one run at `address`; each line is told once as long as it holds."""

    def __init__(
        self,
        address: str,
        told: Callable[[str], None],
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address, self._told, self._now_s = address, told, now_s
        self._alone_since_s = now_s()
        self._is_told = False

    def see(self, slots: Collection[str], refused: Collection[str]) -> None:
        """Slots that are there, and the IDs of machines that were refused."""
        machines = {SlotName.of(slot).machine for slot in slots}
        if machines - set(refused):
            self._alone_since_s, self._is_told = self._now_s(), False
        elif machines:
            self._tell(
                f"all machines that are there are refused, {len(machines)} of {len(machines)}; "
                "waiting for others"
            )
        elif self._now_s() - self._alone_since_s > NOBODY_S:
            self._tell(
                f"no machine is there for {NOBODY_S / 60:g} minutes; start one with `eyelevel "
                f"worker {self._address}`; waiting on"
            )

    def _tell(self, line: str) -> None:
        if not self._is_told:
            self._is_told = True
            self._told(line)
