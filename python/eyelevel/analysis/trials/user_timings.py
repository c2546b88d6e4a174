"""User timings as columns of the trials' table, one a name that a page or the plan has."""

import json
from collections import Counter

import polars as pl

from eyelevel.plan.user_timings import is_user_timing

NAMES_MAX = 20
"""Columns of a run; a page may have as many names as it likes. Those of most loads are shown."""


def with_user_timings(table: pl.DataFrame, primary_metric: str) -> pl.DataFrame:
    """Add a column in ms for each user timing of the loads; the primary metric has one anyway."""
    timings_by_load = [json.loads(each) if each else {} for each in table["user_timings"].to_list()]
    counts = Counter(name for timings in timings_by_load for name in timings)
    # By name among equals, so that the same loads have the same columns.
    names = sorted(counts, key=lambda name: (-counts[name], name))[:NAMES_MAX]
    if is_user_timing(primary_metric) and primary_metric not in names:
        names.append(primary_metric)
    columns = [
        pl.Series(name, [timings.get(name) for timings in timings_by_load], pl.Float64)
        for name in names
    ]
    return table.with_columns(columns)


def timings_of(table: pl.DataFrame) -> list[str]:
    """Return the user timings that a table has columns of."""
    return [name for name in table.columns if is_user_timing(name)]
