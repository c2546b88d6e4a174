"""`eyelevel fetch`: a run's directory from its copy in a bucket."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from eyelevel.cli.output import hints, results, say


def fetch(
    url: Annotated[str, typer.Argument(help="What `run --copy-to` was given.")],
    directory: Annotated[Path, typer.Argument(help="A new directory, or one fetched before.")],
) -> None:
    """Rebuild a run from its copy in a bucket, every block checked.

    Ctrl-C ends it; the same command goes on, and later fetches what a run has copied meanwhile.
    """
    from eyelevel.bucket.fetch import fetch_run
    from eyelevel.bucket.objects import open_objects

    objects = open_objects(url, is_new=False)
    try:
        with _bar() as bar:
            task = bar.add_task("blocks", total=None)
            fetched = fetch_run(
                objects,
                url,
                directory,
                lambda done, total: bar.update(task, completed=done, total=total),
            )
    except KeyboardInterrupt:
        say(hints, f"interrupted; the rest: eyelevel fetch {url} {directory}")
        raise
    of = "all" if fetched.blocks == fetched.total else f"{fetched.blocks} of"
    say(results, f"{directory}: {of} {fetched.total} blocks; next: eyelevel report {directory}")


def _bar() -> Progress:
    return Progress(
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.description}", markup=False),
        TimeRemainingColumn(),
        console=hints,
        transient=True,
    )
