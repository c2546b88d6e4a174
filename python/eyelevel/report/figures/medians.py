"""The data for the figures of Das 2014: medians of loads, and the networks' positions."""

from collections.abc import Sequence

import polars as pl

from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.blocks import with_timeouts
from eyelevel.plan.networks.network import Network


def places(networks: Sequence[Network]) -> pl.DataFrame:
    """Return the networks' coordinates: `network`, `rate_mbit_s` (down), `rtt_ms`."""
    rows = [(each.name, each.down_mbit_s, float(each.rtt_ms_min)) for each in networks]
    columns = {"network": pl.String, "rate_mbit_s": pl.Float64, "rtt_ms": pl.Float64}
    return pl.DataFrame(rows, schema=columns, orient="row")


def site_medians(contents: StudyResults) -> pl.DataFrame:
    """Return the median load in seconds per network, site and stack; a timeout counts as infinite.

    A site that times out with a stack stays among that stack's sites: dropping it would favour the
    stack.
    """
    metric = contents.drawn_metric
    return (
        contents.blocks.kept.with_columns(seconds=with_timeouts(metric) / 1e3)
        .filter(pl.col("seconds").is_not_null())
        .group_by("network", "site", "stack", maintain_order=True)
        .agg(pl.col("seconds").median())
    )


def single_objects(contents: StudyResults) -> pl.DataFrame:
    """Return quartiles of the load times of synthetic sites of one object, by size and stack."""
    metric = pl.col("page_load_time_ms")
    kept = contents.blocks.kept.filter(
        metric.is_not_null() & pl.col("site").str.starts_with("synthetic-1x")
    )
    size = pl.col("site").str.extract(r"synthetic-1x(\d+)-", 1).cast(pl.Int64)
    return (
        kept.with_columns(object_bytes=size)
        .group_by("object_bytes", "network", "stack", maintain_order=True)
        .agg(
            median_ms=metric.median(),
            lower_quartile_ms=metric.quantile(0.25, "linear"),
            upper_quartile_ms=metric.quantile(0.75, "linear"),
            loads=pl.len(),
        )
        .with_columns(size=pl.col("object_bytes").map_elements(_size, return_dtype=pl.String))
        .sort("object_bytes", "network", "stack")
    )


def _size(size_bytes: int) -> str:
    for unit, factor in (("MB", 10**6), ("kB", 10**3)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:g} {unit}"
    return f"{size_bytes} B"
