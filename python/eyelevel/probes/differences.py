"""Summarise paired differences: percentiles, shares, the median host and a verdict.

Summarise connection, TCP and DNS times of successful attempts, by protocol and conditions.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from eyelevel.analysis.stats.estimate import (
    SIGNIFICANCE_LEVEL,
    UNDETERMINED,
    Estimate,
    undetermined,
)
from eyelevel.analysis.stats.families import holm
from eyelevel.analysis.stats.paired import median_estimate
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.probes.intervals import quantile_estimates, share_estimates
from eyelevel.probes.pairing import Pairs
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


THRESHOLDS_MS = (0, 5, 10, 20)
NO_CLEAR_DIFFERENCE = "no clear difference"
NAMES = (*(f"p{p}_ms" for p in PERCENTS), *(f"share_above_{t}" for t in THRESHOLDS_MS))


def differences_of(pairs: Pairs) -> JsonObject:
    """Return `n`, `hosts`, and estimates: median host, PERCENTS, shares above THRESHOLDS_MS."""
    values, hosts = pairs.difference_ms, pairs.hosts
    estimates = [
        *quantile_estimates(values, hosts, PERCENTS),
        *share_estimates(values, hosts, THRESHOLDS_MS),
    ]
    row: JsonObject = {"n": int(values.size), "hosts": len(set(hosts))}
    row |= {"median_host_ms": _median_host(pairs).as_json()}
    return row | {name: estimate.as_json() for name, estimate in zip(NAMES, estimates, strict=True)}


def empty_summary(reason: str) -> JsonObject:
    """Return the fields of a summary without differences, each estimate with the reason."""
    none = undetermined(reason).as_json()
    return {"n": 0, "hosts": 0, "median_host_ms": none} | dict.fromkeys(NAMES, none)


def _median_host(pairs: Pairs) -> Estimate:
    """Return the median over hosts of each host's median difference: each host counts once."""
    by_host = pl.DataFrame({"host": pairs.hosts, "ms": pairs.difference_ms}).group_by("host")
    return median_estimate(by_host.agg(pl.col("ms").median())["ms"].to_numpy(), "hosts")


def judge(claims: Sequence[JsonObject]) -> None:
    """Add `p_holm` and `verdict` to rows of `differences_of`, corrected over all of them."""
    values = [row["median_host_ms"]["p"] for row in claims]
    compared = sum(p is not None for p in values)
    for row, p in zip(claims, holm(values), strict=True):
        row |= {"p_holm": p, "verdict": _verdict(row, p, compared)}


def _verdict(row: JsonMapping, p: float | None, compared: int) -> str:
    """Return which is faster in the median host, by its corrected p only.

    If even the same sign at every host would not be significant with so many comparisons, a missing
    effect is undetermined.
    """
    median_ms = row["median_host_ms"]["value"]
    if p is None or median_ms is None:
        return UNDETERMINED
    if p <= SIGNIFICANCE_LEVEL and median_ms != 0:
        return "b faster" if median_ms > 0 else "a faster"
    least_p = compared * 2.0 ** (1 - row["hosts"])
    return UNDETERMINED if least_p > SIGNIFICANCE_LEVEL else NO_CLEAR_DIFFERENCE
