"""Compute one trial's row: its machine, its facts, one column per metric, the picture's progress,
and what that waited for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import polars as pl

from eyelevel.analysis.trials.facts import FACT_COLUMNS, TRIAL_COLUMNS, facts_of
from eyelevel.analysis.trials.waits import WAITS_COLUMNS, waits_of
from eyelevel.json_types import JsonMapping
from eyelevel.metrics.compute import Measured
from eyelevel.store.frames import Frames
from eyelevel.store.outcomes import CENSORED

Measure = Callable[[JsonMapping, Frames], Measured]
Row = tuple[object, ...]

# Of the loads that ended `ok`: times, and from each on the share of the picture that is there.
PROGRESS_COLUMNS: dict[str, pl.DataType] = {
    "progress_at_ms": pl.List(pl.Float32()),
    "progress_share": pl.List(pl.Float32()),
}

# What a row was computed from.
SOURCE_COLUMNS: dict[str, pl.DataType] = {
    "record_sha256": pl.String(),
    "record_stamp": pl.String(),
    "frames_stamp": pl.String(),
    "computed_by": pl.String(),
}


@dataclass(frozen=True)
class Columns:
    """The columns computed of each finished load: the metrics' names, and the function that
    measures.

    `version` names the code that computes; None: nothing is kept and nothing kept is used.
    """

    names: tuple[str, ...]
    measure: Measure
    version: str | None = None

    def schema(self) -> dict[str, pl.DataType]:
        """Return every column of the table."""
        metrics = {name: pl.Float64() for name in self.names}
        return (
            TRIAL_COLUMNS
            | FACT_COLUMNS
            | metrics
            | PROGRESS_COLUMNS
            | WAITS_COLUMNS
            | SOURCE_COLUMNS
        )

    def row(self, record: JsonMapping, frames: Callable[[], Frames]) -> Row:
        """Return a trial's values, in the schema's order but for SOURCE_COLUMNS."""
        found = self.measure(record, frames()) if _has_loaded(record) else Measured({})
        metrics = (found.metrics.get(name) for name in self.names)
        progress = zip(*found.progress, strict=True) if found.progress else (None, None)
        waits = waits_of(record, found.progress, found.metrics.get("speed_index_ms"))
        return (*facts_of(record), *metrics, *map(_as_list, progress), *waits)


def _as_list(values: Iterable[float] | None) -> list[float] | None:
    return None if values is None else list(values)


def _has_loaded(record: JsonMapping) -> bool:
    """Return whether the page came, so that the load has values, counted or not."""
    outcome, navigation = record["outcome"], record["navigation"]
    if outcome == "ok" or outcome in CENSORED:
        return bool(outcome == "ok")
    return navigation is not None and navigation["page_load_time_ms"] is not None
