"""Rows of the figure of single objects."""

import polars as pl

from eyelevel.analysis.study import Contents


def single_objects(contents: Contents) -> pl.DataFrame:
    """Quartiles of the load time of synthetic sites of one object."""
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
            low_ms=metric.quantile(0.25, "linear"),
            high_ms=metric.quantile(0.75, "linear"),
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
