"""What paired differences amount to: percentiles, shares, the median host and a verdict."""

import polars as pl

from eyelevel.json_types import JsonObject
from eyelevel.probes.intervals import quantile_estimates, share_estimates
from eyelevel.probes.pairing import Pairs
from eyelevel.probes.times import PERCENTS
from eyelevel.stats.estimate import SIGNIFICANCE_LEVEL, Estimate, undetermined
from eyelevel.stats.paired import median_estimate

THRESHOLDS_MS = (0, 5, 10, 20)
NO_CLEAR_DIFFERENCE = "no clear difference"
NAMES = (*(f"p{p}_ms" for p in PERCENTS), *(f"share_above_{t}" for t in THRESHOLDS_MS))


def differences_of(pairs: Pairs) -> JsonObject:
    """`n`, `hosts`, and estimates of the median host, PERCENTS and shares above THRESHOLDS_MS."""
    values, hosts = pairs.difference_ms, pairs.hosts
    estimates = [
        *quantile_estimates(values, hosts, PERCENTS),
        *share_estimates(values, hosts, THRESHOLDS_MS),
    ]
    row: JsonObject = {"n": int(values.size), "hosts": len(set(hosts))}
    row |= {"median_host_ms": _median_host(pairs).as_json()}
    return row | {name: estimate.as_json() for name, estimate in zip(NAMES, estimates, strict=True)}


def nothing_paired(reason: str) -> JsonObject:
    """The same fields where there are no differences, each estimate with the reason."""
    none = undetermined(reason).as_json()
    return {"n": 0, "hosts": 0, "median_host_ms": none} | dict.fromkeys(NAMES, none)


def _median_host(pairs: Pairs) -> Estimate:
    """Each host counts once, by the median of its differences: its rows are one site's."""
    by_host = pl.DataFrame({"host": pairs.hosts, "ms": pairs.difference_ms}).group_by("host")
    return median_estimate(by_host.agg(pl.col("ms").median())["ms"].to_numpy(), "hosts")


def verdict_of(median_ms: float | None, p: float | None) -> str:
    """Which is faster in the median host, by its corrected p alone."""
    if p is None or median_ms is None:
        return "undetermined"
    if p > SIGNIFICANCE_LEVEL or median_ms == 0:
        return NO_CLEAR_DIFFERENCE
    return "b faster" if median_ms > 0 else "a faster"
