"""Pack a run and everything needed to repeat it into one file (`eyelevel bundle`)."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.cli.finish import end_at
from eyelevel.cli.output import results
from eyelevel.run.bundle.bundle import find_inputs, write_bundle


def bundle(
    directory: Annotated[Path, typer.Argument(help="The directory of a run.")],
    out: Annotated[
        Path | None,
        typer.Option(help="The file to write; by default the directory's name with .zip."),
    ] = None,
    site: Annotated[
        list[str] | None,
        typer.Option(
            help="The new place of a recording that is no longer where the plan says. Repeatable."
        ),
    ] = None,
) -> None:
    """Pack a run into one file for `eyelevel rerun`: plan, recordings, traces, records and report.

    The file also holds the locks of dependencies. Recordings and traces are taken from where
    the plan names them, relative to this folder.
    """
    inputs = find_inputs(directory, site or ())
    file = out or directory.with_name(directory.resolve().name + ".zip")
    count = write_bundle(directory, inputs, file)
    size_mb = file.stat().st_size / 1e6
    results.print(f"{count} files, {size_mb:.1f} MB")
    end_at("bundle", file)
