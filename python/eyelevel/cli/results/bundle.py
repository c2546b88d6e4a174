"""`eyelevel bundle`: a run and what it takes to repeat it, as one file."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.cli.output import results
from eyelevel.run.bundle.bundle import write_bundle
from eyelevel.run.bundle.inputs import find_inputs


def bundle(
    directory: Annotated[Path, typer.Argument(help="The directory of a run.")],
    out: Annotated[
        Path | None, typer.Option(help="The file; by default the directory's name with .zip.")
    ] = None,
    site: Annotated[
        list[str] | None,
        typer.Option(help="A recording that is no longer where the plan names it. Repeatable."),
    ] = None,
) -> None:
    """Pack plan, recordings, traces, records, report and locks into one file, for `eyelevel rerun`.

    Recordings and traces are looked for where the plan names them, from this folder.
    """
    inputs = find_inputs(directory, site or ())
    file = out or directory.with_name(directory.resolve().name + ".zip")
    count = write_bundle(directory, inputs, file)
    size_mb = file.stat().st_size / 1e6
    results.print(f"{file}: {count} files, {size_mb:.1f} MB", markup=False, soft_wrap=True)
