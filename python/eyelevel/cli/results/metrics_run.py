"""Recompute every metric of every load of a run from raw records (`eyelevel metrics DIR`)."""

import os
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Annotated

import polars as pl
import typer

from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME
from eyelevel.analysis.metrics.compute import measure
from eyelevel.analysis.metrics.steps import STEP_METRICS
from eyelevel.analysis.trials.facts import TRIAL_COLUMNS
from eyelevel.analysis.trials.post_hoc_exclusions import judge_table
from eyelevel.analysis.trials.rows import Columns
from eyelevel.analysis.trials.table import trials_table
from eyelevel.base.errors import ExpectedError
from eyelevel.base.json_types import JsonObject
from eyelevel.cli.finish import end_at
from eyelevel.cli.output import print_json, results, table
from eyelevel.cli.results.steps import SHOWN, measure_steps, print_steps
from eyelevel.store.directory import read_trial
from eyelevel.store.disk.cells import to_csv
from eyelevel.store.disk.results import write_result

CELL = ["site", "network", "stack"]


def run(
    directory: Annotated[Path, typer.Argument(help="The directory that `eyelevel run` wrote.")],
    csv: Annotated[
        Path | None, typer.Option(help="Write one row per load, with every metric, to this file.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print every load with every metric as JSON.")
    ] = False,
) -> None:
    """Compute every metric again from records and frames.

    Prints medians per site, network and stack. Loads that do not count have no metrics.
    """
    if not (directory / "trials").is_dir():
        raise ExpectedError(
            f"reading {directory}: it has no folder `trials`; give the folder that "
            "`eyelevel run --out` wrote"
        )
    loads = _loads(directory)
    if csv is not None:
        write_result(csv, to_csv(loads))
        results.print(f"{loads.height} loads")
        end_at("rows", csv)
    elif as_json:
        steps = _steps(directory, loads)
        print_json([row | {"after_load": steps.get(row["hash"], [])} for row in loads.to_dicts()])
    else:
        _print(loads)
        _print_steps(loads, _steps(directory, loads))


def _loads(directory: Path) -> pl.DataFrame:
    names = tuple(METRICS_BY_NAME)
    columns = Columns(names, measure)
    judged = judge_table(trials_table(directory, columns, len(os.sched_getaffinity(0))))
    counts = pl.col("outcome") == "ok"
    metrics = [pl.when(counts).then(pl.col(name)).alias(name) for name in names]
    order = [*CELL, "repetition", "position"]
    return judged.sort(order).select(*TRIAL_COLUMNS, *metrics)


def _steps(directory: Path, loads: pl.DataFrame) -> dict[str, list[JsonObject]]:
    """Return the steps after each load that counts, by hash; loads without steps are left out."""
    by_hash = {}
    for name in loads.filter(outcome="ok")["hash"]:
        trial = read_trial(directory, name)
        if steps := measure_steps(trial.record, trial.step_frames()):
            by_hash[name] = steps
    return by_hash


def _print_steps(loads: pl.DataFrame, steps: Mapping[str, list[JsonObject]]) -> None:
    """Print medians of each step by site, network and stack."""
    medians = []
    for cell, rows in loads.group_by(CELL, maintain_order=True):
        measured = [steps[name] for name in rows["hash"] if name in steps]
        for same in zip(*measured, strict=True):
            known = {key: [s[key] for s in same if s[key] is not None] for key in STEP_METRICS}
            middle = {key: median(values) if values else None for key, values in known.items()}
            medians.append((" ".join(map(str, cell)), [{"step": same[0]["step"], **middle}]))
    print_steps(medians)


def _print(loads: pl.DataFrame) -> None:
    titles = list(SHOWN.values())
    shown = table("site", "network", "stack", "ok", *titles, right=("ok", *titles))
    cells = loads.group_by(CELL, maintain_order=True).agg(
        loads=pl.len(),
        ok=(pl.col("outcome") == "ok").sum(),
        **{name: pl.col(name).median() for name in SHOWN},
    )
    for row in cells.iter_rows(named=True):
        values = ["-" if row[name] is None else f"{row[name]:.0f}" for name in SHOWN]
        shown.add_row(*(row[name] for name in CELL), f"{row['ok']}/{row['loads']}", *values)
    results.print(shown)
    results.print("medians in ms; all metrics of each load: --csv FILE or --json")
