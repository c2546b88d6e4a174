"""Write the papers' figures and tables for a run as files (`eyelevel figures`)."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.analysis.gate import GateError
from eyelevel.analysis.metrics.catalogue import measure
from eyelevel.analysis.study import read_results
from eyelevel.base.errors import unknown
from eyelevel.cli.finish import OpenOption, end_at
from eyelevel.cli.output import results
from eyelevel.report.charts.chart import FORMATS
from eyelevel.report.figures.catalogue import FIGURES, TABLES, PaperFigure, PaperTable
from eyelevel.report.figures.cellular import why_not
from eyelevel.store.cells import to_csv
from eyelevel.store.disk import make_folder, write_result


def figures(
    directory: Annotated[Path, typer.Argument(help="The directory of a run.")],
    format_: Annotated[str, typer.Option("--format", help="The format: pdf, svg or png.")] = "svg",
    only: Annotated[
        list[str] | None, typer.Option(help="Only the figure or table of this name.")
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STACK/REFERENCE",
            help=(
                "Compare these stacks, such as quic/tcp+, instead of those of the plan. Repeatable."
            ),
        ),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            help="The metric for maps and curves, such as page_load_time_ms; by default the "
            "primary metric. Only the primary metric has verdicts.",
        ),
    ] = "",
    site: Annotated[
        list[str] | None,
        typer.Option(
            help="Use only this site. Repeatable. A selection of sites has no verdicts.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to write; by default figures/ in the directory, and for a --site or "
            "--metric a folder in it.",
        ),
    ] = None,
    open_: OpenOption = False,
) -> None:
    """Write the papers' figures and tables for a run, each with its data as CSV.

    Exits 1 if the one that --only names cannot be made from this run.
    """
    if format_ not in FORMATS:
        raise GateError(f"--format: {unknown('format', format_, FORMATS)}")
    entries: list[PaperFigure | PaperTable] = [*FIGURES, *TABLES]
    names = [entry.name for entry in entries]
    for name in only or []:
        if name not in names:
            raise GateError(f"--only: {unknown('figure', name, names)}")
    processes, sites = len(os.sched_getaffinity(0)), site or ()
    study = read_results(directory, measure, processes, None, compare or (), metric, sites)
    target = out or directory / "figures" / _folder_of(sites, metric)
    make_folder(target)
    missing = False
    for entry in entries:
        if only and entry.name not in only:
            continue
        rows = entry.rows(study)
        if not rows.height:
            nothing = f"{entry.name} ({entry.source}): not made, {why_not(entry.name, study)}"
            results.print(nothing, markup=False, soft_wrap=True)
            missing = True
            continue
        write_result(target / f"{entry.name}.csv", to_csv(rows))
        files = f"{entry.name}.csv"
        if isinstance(entry, PaperFigure):
            content = FORMATS[format_](entry.chart(rows, study))
            write_result(target / f"{entry.name}.{format_}", content)
            files = f"{entry.name}.{format_}, {files}"
        results.print(f"{entry.source}: {target / files}", markup=False, soft_wrap=True)
    end_at("figures", target, opens=open_)
    if only and missing:
        raise typer.Exit(1)


def _folder_of(sites: Sequence[str], metric: str) -> str:
    """Return the folder for figures of selected sites or another metric.

    It differs from the folder of the complete run's figures, which stay.
    """
    of_sites = [*sites] if len(sites) < 3 else [f"{len(sites)} sites"]
    words = [re.sub(r"[^\w.+]+", "-", word).strip("-.")[:80] for word in (*of_sites, metric)]
    return "-".join(word for word in words if word)
