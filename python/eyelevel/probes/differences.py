"""Summarise paired differences: percentiles, shares, the median host and a verdict."""

from collections.abc import Sequence

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
from eyelevel.probes.times import PERCENTS

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
