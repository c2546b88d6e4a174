"""`eyelevel metrics DIR`: every metric of every load of a run, computed from its raw records."""

import os
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from eyelevel.cli.load import SHOWN
from eyelevel.cli.output import print_json, results, table
from eyelevel.errors import ExpectedError
from eyelevel.metrics import METRICS_BY_NAME, metrics_of
from eyelevel.store import TRIAL_COLUMNS, Columns, judge_table, trials_table

CELL = ["site", "network", "arm"]


def run(
    directory: Annotated[Path, typer.Argument(help="The results of `eyelevel run`.")],
    csv: Annotated[
        Path | None, typer.Option(help="Write a row a load with every metric to this file.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print every load with every metric as JSON.")
    ] = False,
) -> None:
    """Compute every metric again from records and frames, whatever was computed before.

    Prints medians a site, network and stack; loads that do not count have no metrics.
    """
    if not (directory / "trials").is_dir():
        raise ExpectedError(
            f"reading {directory}: it has no folder `trials`; give the folder that "
            "`eyelevel run --out` wrote"
        )
    loads = _loads(directory)
    if csv is not None:
        loads.write_csv(csv)
        results.print(f"{loads.height} loads in {csv}", markup=False)
    elif as_json:
        print_json(loads.to_dicts())
    else:
        _print(loads)


def _loads(directory: Path) -> pl.DataFrame:
    names = tuple(METRICS_BY_NAME)
    columns = Columns(names, metrics_of)
    found = judge_table(trials_table(directory, columns, len(os.sched_getaffinity(0))))
    counts = pl.col("outcome") == "ok"
    metrics = [pl.when(counts).then(pl.col(name)).alias(name) for name in names]
    order = [*CELL, "repetition", "position"]
    return found.sort(order).select(*TRIAL_COLUMNS, *metrics)


def _print(loads: pl.DataFrame) -> None:
    titles = list(SHOWN.values())
    made = table("site", "network", "stack", "ok", *titles, right=("ok", *titles))
    cells = loads.group_by(CELL, maintain_order=True).agg(
        loads=pl.len(),
        ok=(pl.col("outcome") == "ok").sum(),
        **{name: pl.col(name).median() for name in SHOWN},
    )
    for row in cells.iter_rows(named=True):
        values = ["-" if row[name] is None else f"{row[name]:.0f}" for name in SHOWN]
        made.add_row(*(row[name] for name in CELL), f"{row['ok']}/{row['loads']}", *values)
    results.print(made)
    results.print("medians in ms; all metrics of each load: --csv FILE or --json")
