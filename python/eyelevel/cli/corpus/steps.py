"""Show progress through a corpus: a bar with the time left, and persistent lines above it."""

import time
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from eyelevel.cli.output import LogLines, Screen, hints
from eyelevel.cli.values import duration


class Steps:
    """A progress bar of `total` recordings on standard error, for the duration of a `with` block.

    On Ctrl-C or SIGTERM the final line states that finished recordings are kept.
    """

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total = what, total
        self._bar = Progress(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.description}", markup=False),
            console=hints,
            auto_refresh=False,  # nothing is drawn during a load
            disable=not hints.is_terminal,
        )
        self._log = LogLines(hints)
        self._began_s = time.monotonic()
        self._done = self._passed = 0

    def __enter__(self) -> Self:
        self._bar.start()
        self._task = self._bar.add_task(self._what, total=self._total, left="")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()
        # Exceptions for signals are not subclasses of `Exception`.
        if kind is not None and not issubclass(kind, Exception):
            done = f"stopped after {self._done} of {self._total}"
            hints.print(f"{done}: the same command continues where it stopped", markup=False)

    @property
    def screen(self) -> Screen:
        """Console for lines above the bar."""
        return hints

    def begin(self, name: str) -> None:
        """Show that work on `name` begins."""
        self._show(f"{self._what} {name}")

    def end(self, name: str, *, passed_over: bool = False) -> None:
        """Count `name` as done.

        Recordings that were passed over do not affect the estimated time.
        """
        self._done += 1
        self._passed += passed_over
        self._show(name)

    def _show(self, said: str) -> None:
        worked = self._done - self._passed
        each_s = (time.monotonic() - self._began_s) / worked if worked else 0.0
        left_s = each_s * (self._total - self._done)
        left = f"{duration(left_s)} left" if left_s >= 1 else ""
        self._bar.update(
            self._task, completed=self._done, description=said, left=left, refresh=True
        )
        self._log.tell(f"{self._done} of {self._total}", left, said)
