"""Rebuild a run's directory from its copy in a bucket (`eyelevel fetch`)."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from eyelevel.cli.finish import end_at
from eyelevel.cli.output import hints, results, say


def fetch(
    url: Annotated[str, typer.Argument(help="The URL that was given to `run --copy-to`.")],
    directory: Annotated[
        Path, typer.Argument(help="A new directory, or one from an earlier fetch.")
    ],
) -> None:
    """Rebuild a run from its copy in a bucket, checking every block.

    After Ctrl-C, the same command continues; later it fetches what the run has copied since.
    """
    from eyelevel.run.bucket.fetch import fetch_run
    from eyelevel.run.bucket.objects import open_objects

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
        say(hints, f"interrupted; to fetch the rest: eyelevel fetch {url} {directory}")
        raise
    of = "all" if fetched.blocks == fetched.total else f"{fetched.blocks} of"
    say(results, f"{of} {fetched.total} blocks; next: eyelevel report {directory}")
    end_at("run", directory)


def _bar() -> Progress:
    return Progress(
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.description}", markup=False),
        TimeRemainingColumn(),
        console=hints,
        transient=True,
        disable=not hints.is_terminal,
    )
