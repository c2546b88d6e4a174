"""Compute one trial's row: its machine, its facts, metrics, visual progress and waits."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import polars as pl

from eyelevel.analysis.metrics.compute import Measured
from eyelevel.analysis.trials.facts import FACT_COLUMNS, TRIAL_COLUMNS, facts_of
from eyelevel.analysis.trials.waits import WAITS_COLUMNS, waits_of
from eyelevel.base.json_types import JsonMapping
from eyelevel.store.frames import Frames
from eyelevel.store.outcomes import CENSORED

Measure = Callable[[JsonMapping, Frames], Measured]
Row = tuple[object, ...]

# Of loads that ended `ok`: times, and the visual progress from each on, 0 to 1.
PROGRESS_COLUMNS: dict[str, pl.DataType] = {
    "progress_at_ms": pl.List(pl.Float32()),
    "progress_share": pl.List(pl.Float32()),
}

# The inputs that a row was computed from.
SOURCE_COLUMNS: dict[str, pl.DataType] = {
    "record_sha256": pl.String(),
    "record_stamp": pl.String(),
    "frames_stamp": pl.String(),
    "computed_by": pl.String(),
}


@dataclass(frozen=True)
class Columns:
    """The columns of a run's rows: the metrics' names, and the function that measures a load.

    `version` names the code that computes; None: the cache is neither read nor written.
    """

    names: tuple[str, ...]
    measure: Measure
    version: str | None = None

    def schema(self) -> dict[str, pl.DataType]:
        """Return the names and types of all columns."""
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
        """Return a trial's values, in the schema's order, without SOURCE_COLUMNS."""
        found = self.measure(record, frames()) if _has_loaded(record) else Measured({})
        metrics = (found.metrics.get(name) for name in self.names)
        progress = zip(*found.progress, strict=True) if found.progress else (None, None)
        waits = waits_of(record, found.progress, found.metrics.get("speed_index_ms"))
        return (*facts_of(record), *metrics, *map(_as_list, progress), *waits)


def _as_list(values: Iterable[float] | None) -> list[float] | None:
    return None if values is None else list(values)


def _has_loaded(record: JsonMapping) -> bool:
    """Return whether the page loaded, so that the load has values, whether or not it counts."""
    outcome, navigation = record["outcome"], record["navigation"]
    if outcome == "ok" or outcome in CENSORED:
        return bool(outcome == "ok")
    return navigation is not None and navigation["page_load_time_ms"] is not None
