"""Show the progress of a scan or a list of hosts, and the time left."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from eyelevel.cli.output import LogLines, hints
from eyelevel.cli.values import duration

GO_ON = "continue with --resume and the same --out"
NO_GOING_ON = "it cannot be continued, since there is no --out"
"""Last line of an interrupted command without --out."""

REDRAW_EVERY_S = 0.5


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int, str], None]]:
    """Show a progress bar; yields a function to call with the number done of `total` and a note."""
    began, state = time.monotonic(), {"at": 0.0, "first": -1}
    log = LogLines(hints)
    bar = Progress(
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
        console=hints,
        disable=not hints.is_terminal,
    )
    with bar:
        task = bar.add_task(what, total=total, note="")

        def show(done: int, note: str) -> None:
            now = time.monotonic()
            if state["first"] < 0:
                state["first"] = done
            if now - state["at"] < REDRAW_EVERY_S and done < total:
                return
            state["at"] = now
            bar.update(task, completed=done, note=note)
            fresh = done - int(state["first"])
            left_s = (now - began) * (total - done) / fresh if fresh else 0.0
            left = f"{duration(left_s)} left" if fresh else ""
            log.tell(f"{done} of {total} {what}", note, left, last=done >= total)

        yield show
