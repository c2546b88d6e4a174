"""`eyelevel figures`: the papers' figures and tables from a run, as files."""

import os
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.analysis.figures.catalogue import FIGURES, TABLES
from eyelevel.analysis.gate import GateError
from eyelevel.analysis.study import read_contents
from eyelevel.cli.output import results
from eyelevel.errors import unknown
from eyelevel.figures.chart import FORMATS
from eyelevel.metrics.compute import metrics_of


def figures(
    directory: Annotated[Path, typer.Argument(help="The directory of a run.")],
    format_: Annotated[str, typer.Option("--format", help="pdf, svg or png.")] = "svg",
    only: Annotated[list[str] | None, typer.Option(help="One figure or table by name.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to; by default figures/ in the directory.")
    ] = None,
) -> None:
    """Write the papers' figures, each with its rows as CSV beside it, and their tables."""
    if format_ not in FORMATS:
        raise GateError(f"--format: {unknown('format', format_, FORMATS)}")
    names = [each.name for each in (*FIGURES, *TABLES)]
    for name in only or []:
        if name not in names:
            raise GateError(f"--only: {unknown('figure', name, names)}")
    contents = read_contents(directory, metrics_of, len(os.sched_getaffinity(0)))
    target = out or directory / "figures"
    target.mkdir(parents=True, exist_ok=True)
    for each in (*FIGURES, *TABLES):
        if only and each.name not in only:
            continue
        rows = each.rows(contents)
        if not rows.height:
            results.print(f"{each.name}: this run has nothing for it ({each.source})", markup=False)
            continue
        rows.write_csv(target / f"{each.name}.csv")
        files = f"{each.name}.csv"
        if each in FIGURES:
            content = FORMATS[format_](each.chart(rows, contents))
            (target / f"{each.name}.{format_}").write_bytes(content)
            files = f"{each.name}.{format_}, {files}"
        results.print(f"{each.source}: {target / files}", markup=False, soft_wrap=True)
