"""Steps after the load, compared as loads are: in pairs of the same blocks, step by step."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from eyelevel.analysis.gains.cells import Cell, compare_cells
from eyelevel.analysis.metrics.steps import STEP_METRICS, step_metrics
from eyelevel.base.json_types import JsonMapping
from eyelevel.plan.comparisons import Comparison
from eyelevel.store.directory import read_trial

_KEYS = ("network", "site", "stack", "repetition", "block", "limit_ms", "outcome")


@dataclass(frozen=True)
class StepCells:
    """One step of the plan, and its comparisons by site, network and metric."""

    text: str
    cells: tuple[Cell, ...]


def compare_steps(directory: Path, plan: JsonMapping, kept: pl.DataFrame) -> tuple[StepCells, ...]:
    """Return the comparisons of every step over the kept blocks; timed-out loads have no steps.

    Raises StoreError for a damaged record.
    """
    texts = plan["browser"]["after_load"]
    if not texts:
        return ()
    schema: dict[str, type[pl.DataType]] = dict.fromkeys(_KEYS, pl.String)
    schema |= {"repetition": pl.Int64, "limit_ms": pl.Float64} | dict.fromkeys(
        STEP_METRICS, pl.Float64
    )
    rows: list[list[tuple[object, ...]]] = [[] for _ in texts]
    for name, *keys in kept.select("hash", *_KEYS).iter_rows():
        trial = read_trial(directory, name)
        steps = trial.record.get("after_load", ()) if keys[-1] == "ok" else ()
        measured: list[dict[str, float | None]] = [
            step_metrics(step, ((frame.at_ms, frame.picture) for frame in frames))
            for step, frames in zip(steps, trial.step_frames(), strict=False)
        ]
        measured += [dict.fromkeys(STEP_METRICS)] * (len(texts) - len(measured))
        for step_rows, values in zip(rows, measured, strict=True):
            # The load itself ended: a missing value is absent here, not censored at a limit.
            step_rows.append((*keys[:-1], "ok", *values.values()))
    comparisons = [Comparison.read(asked) for asked in plan["comparisons"]]
    compared = []
    for text, step_rows in zip(texts, rows, strict=True):
        table = pl.DataFrame(step_rows, schema=schema, orient="row")
        cells = compare_cells(table, tuple(STEP_METRICS), comparisons)
        compared.append(StepCells(text, tuple(cells)))
    return tuple(compared)
