"""`eyelevel bundle`: a run and what it takes to repeat it, as one file."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.cli.output import results
from eyelevel.run import open_site
from eyelevel.run.bundle import write_bundle
from eyelevel.store import PLAN_FILE, read_document


def bundle(
    directory: Annotated[Path, typer.Argument(help="The directory of a run.")],
    out: Annotated[
        Path | None, typer.Option(help="The file; by default the directory's name with .zip.")
    ] = None,
    site: Annotated[
        list[str] | None,
        typer.Option(help="A recording of the plan that is neither shipped nor at its place."),
    ] = None,
) -> None:
    """Pack plan, recordings, records and report into one file, for `eyelevel rerun`."""
    given = [open_site(name) for name in site or []]
    known = {each.name for each in given}
    wanted = [each["name"] for each in read_document(directory, PLAN_FILE)["sites"]]
    sites = [*given, *(open_site(name) for name in wanted if name not in known)]
    file = out or directory.with_name(directory.resolve().name + ".zip")
    count = write_bundle(directory, sites, file)
    size_mb = file.stat().st_size / 1e6
    results.print(f"{file}: {count} files, {size_mb:.1f} MB", markup=False, soft_wrap=True)
