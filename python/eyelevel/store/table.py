"""All trials of a run as one tidy table: one row a trial, one column a metric."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from eyelevel.store.directory import StoredTrial
from eyelevel.store.frames import Frame

MetricsOf = Callable[[Mapping[str, Any], Sequence[Frame]], Mapping[str, float | None]]

TRIAL_COLUMNS: dict[str, pl.DataType] = {
    "hash": pl.String(),
    "site": pl.String(),
    "network": pl.String(),
    "arm": pl.String(),
    "stack": pl.String(),
    "block": pl.String(),
    "repetition": pl.Int64(),
    "position": pl.Int64(),
    "seed": pl.Int64(),
    "outcome": pl.String(),
    "outcome_detail": pl.String(),
    "started_at": pl.String(),
}


def trials_table(
    trials: Iterable[StoredTrial],
    metrics_of: MetricsOf,
    metric_names: Sequence[str],
    judged: Mapping[str, tuple[str, str]] | None = None,
) -> pl.DataFrame:
    """The tidy table; metrics are computed from the raw records, now and never cached.

    Metrics are computed for loads that ended `ok`; other loads have nulls in every metric column, a
    timed-out one included: what it showed until the limit is not how long the page takes.
    `metrics_of` is passed in because it lies above the store (eyelevel.metrics has it). `judged`
    gives outcome and detail by hash where other loads decide them (`eyelevel.store.judgement`).
    """
    rows = []
    for trial in trials:
        record = trial.record
        row: dict[str, Any] = {
            name: record["trial"][name] if name in record["trial"] else record[name]
            for name in TRIAL_COLUMNS
        }
        if judged is not None:
            row["outcome"], row["outcome_detail"] = judged[row["hash"]]
        found = metrics_of(record, trial.frames()) if row["outcome"] == "ok" else {}
        row |= {name: found.get(name) for name in metric_names}
        rows.append(row)
    schema = TRIAL_COLUMNS | {name: pl.Float64() for name in metric_names}
    return pl.DataFrame(rows, schema=schema)
