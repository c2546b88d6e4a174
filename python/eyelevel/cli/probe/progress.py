"""Show the progress of a scan or a list of hosts, and the time left.

Files of JSON lines that several runs of a command append to.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from eyelevel.base.errors import ExpectedError
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


TAIL_BYTES_MAX = 1 << 17
"""Maximum length of a last line: above any row, and above a response of 12 kB, whose bytes take
at most six in JSON.
"""


def mend(path: Path) -> None:
    """Remove an incomplete last line left by a killed writer; a missing file is ignored.

    Raises `ExpectedError` if the file is not eyelevel's, and leaves it unchanged.
    """
    if not path.exists():
        return
    with path.open("rb+") as stream:
        if stream.read(1) not in (b"", b"{"):
            raise ExpectedError(
                f"{path} holds something other than JSON lines: choose another file"
            )
        size = stream.seek(0, os.SEEK_END)
        reach = min(size, TAIL_BYTES_MAX)
        stream.seek(size - reach)
        tail = stream.read(reach)
        if tail and not tail.endswith(b"\n"):
            stream.truncate(size - reach + tail.rfind(b"\n") + 1)
