"""A scan on the terminal: progress with the time left, and the summary."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from eyelevel.cli.output import hints, results, table
from eyelevel.scans.summary import FEATURES, Summary

LINE_EVERY_S = 30.0
"""Where standard error is no terminal, a log gets a line now and then."""
REDRAW_EVERY_S = 0.5


@contextmanager
def progress(total: int) -> Iterator[Callable[[Summary], None]]:
    """Gives what is to be called after each row."""
    began, state = time.monotonic(), {"at": 0.0, "first": -1}
    bar = Progress(
        TextColumn("names"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
        console=hints,
        disable=not hints.is_terminal,
    )
    with bar:
        task = bar.add_task("names", total=total, note="")

        def shown(summary: Summary) -> None:
            now = time.monotonic()
            if state["first"] < 0:
                state["first"] = summary.names
            every_s = REDRAW_EVERY_S if hints.is_terminal else LINE_EVERY_S
            if now - state["at"] < every_s and summary.names < total:
                return
            state["at"] = now
            note = f"{summary.bases['reached']} reached"
            bar.update(task, completed=summary.names, note=note)
            if not hints.is_terminal:
                fresh = summary.names - int(state["first"])
                left_s = (now - began) * (total - summary.names) / fresh if fresh else None
                left = "" if left_s is None else f", {left_s:.0f} s left"
                hints.print(f"{summary.names} of {total} names, {note}{left}")

        yield shown


def show(summary: Summary, out: Path) -> None:
    """The summary as a table."""
    shown = table(
        "supports", "names", "of", "share", "95 % interval", right=("names", "of", "share")
    )
    for share in summary.shares():
        title, of_names = FEATURES[share.feature]
        bounds = (share.share.low, share.share.high)
        shown.add_row(
            title,
            str(share.count),
            f"{share.of} {of_names}",
            f"{share.count / share.of:.1%}" if share.of else "",
            f"{bounds[0]:.1%} to {bounds[1]:.1%}" if share.of else "",
        )
    results.print(shown)
    parts = [
        f"{summary.names} names",
        f"{summary.bases['resolved']} resolved",
        f"{summary.bases['reached']} reached over TLS",
        *(f"{count} left out: {reason}" for reason, count in summary.skipped.items()),
    ]
    results.print("; ".join(parts), markup=False)
    if summary.failures:
        failures = ", ".join(f"{name} {count}" for name, count in summary.failures.most_common())
        results.print(f"failures: {failures}", markup=False)
    results.print(f"rows: {out}", markup=False, soft_wrap=True)
