"""Summarise connection, TCP and DNS times of successful attempts, by protocol and conditions."""

import numpy as np
import polars as pl

from eyelevel.analysis.stats.estimate import undetermined
from eyelevel.base.json_types import JsonObject
from eyelevel.probes.intervals import quantile_estimates
from eyelevel.probes.protocols import THESIS_NAMES

PERCENTS = (1, 5, 10, 25, 50, 75, 90, 95, 99)
BOUNDED_PERCENTS = (50, 90)
"""Percentiles that have an interval."""
NO_INTERVAL = "no interval is computed of this percentile"

FILES_MAX = 12
"""Maximum number of files shown separately; above it the rows of a vantage point are merged, to
keep the page readable. Jaeger's table 3.1 has ten files, whose curves are his figures 4.5 to
4.18.
"""


def are_merged(table: pl.DataFrame) -> bool:
    """Return whether there are too many files for separate times and curves."""
    return table["file"].n_unique() > FILES_MAX


def times_of(table: pl.DataFrame) -> list[JsonObject]:
    """Return one row per time, file, protocol, family, vantage point and resumption.

    `file` is null if rows of many files are merged (`are_merged`).
    """
    rows = []
    if are_merged(table):
        table = table.with_columns(file=pl.lit(None, pl.String))
    good = table.filter(pl.col("failure").is_null())
    for what in ("connection_ms", "tcp_ms", "dns_ms"):
        known = good.filter(pl.col(what).is_not_null())
        keys = ["protocol", "file", "family", "vantage", "resumed"]
        for key, part in sorted(
            known.partition_by(keys, as_dict=True).items(), key=in_protocols_order
        ):
            protocol, file, family, vantage, resumed = key
            values = part[what].to_numpy()
            quantiles = dict(zip(PERCENTS, np.percentile(values, PERCENTS), strict=True))
            estimates = {p: undetermined(NO_INTERVAL, value=float(v)) for p, v in quantiles.items()}
            with_bounds = quantile_estimates(values, part["host"].to_list(), BOUNDED_PERCENTS)
            estimates |= dict(zip(BOUNDED_PERCENTS, with_bounds, strict=True))
            row: JsonObject = {"what": what, "file": file, "protocol": protocol, "family": family}
            row |= {"vantage": vantage, "resumed": resumed, "n": part.height}
            row |= {"hosts": part["host"].n_unique()}
            rows.append(row | {f"p{p}_ms": e.as_json() for p, e in estimates.items()})
    return rows


def in_protocols_order(item: tuple[tuple[object, ...], pl.DataFrame]) -> tuple[object, ...]:
    """Return a sort key of parts whose own key begins with a protocol."""
    protocol, *rest = item[0]
    names = list(THESIS_NAMES)
    rank = names.index(str(protocol)) if protocol in names else len(names)
    return rank, *(str(part) for part in rest)
