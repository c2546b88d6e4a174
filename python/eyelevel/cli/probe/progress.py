"""How far a scan or a list of hosts is, and how long the rest may take."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from eyelevel.cli.output import hints

GO_ON = "go on with --resume and the same --out"
NO_GOING_ON = "nothing goes on, since there is no --out"
"""What ends the line that an interrupted command says."""

LINE_EVERY_S = 30.0
"""Where standard error is no terminal, a log gets a line now and then."""
REDRAW_EVERY_S = 0.5


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int, str], None]]:
    """Gives what is to be called with how many of `total` are done, and a note on them."""
    began, state = time.monotonic(), {"at": 0.0, "first": -1}
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

        def shown(done: int, note: str) -> None:
            now = time.monotonic()
            if state["first"] < 0:
                state["first"] = done
            every_s = REDRAW_EVERY_S if hints.is_terminal else LINE_EVERY_S
            if now - state["at"] < every_s and done < total:
                return
            state["at"] = now
            bar.update(task, completed=done, note=note)
            if not hints.is_terminal:
                fresh = done - int(state["first"])
                left_s = (now - began) * (total - done) / fresh if fresh else None
                left = "" if left_s is None else f", {left_s:.0f} s left"
                hints.print(f"{done} of {total} {what}, {note}{left}", markup=False)

        yield shown
