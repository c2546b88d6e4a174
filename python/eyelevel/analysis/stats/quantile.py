"""A quantile of one group of loads: its exact interval, and how many loads it needs."""

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from eyelevel.analysis.stats.estimate import CONFIDENCE, Estimate, Floats, are_too_few, undetermined

Integers = NDArray[np.int64]

LOADS_BEYOND_MIN = 2
BLOCKS_COUNTED_MAX = 1000
"""The most blocks considered; beyond it only a quieter machine or a larger effect helps."""
DECIDING_POWER = 0.9
"""The chance with which a predicted number of blocks decides."""


def blocks_min(share: float) -> int:
    """Return the fewest blocks for a quantile, with which two loads are expected beyond it."""
    return math.ceil(LOADS_BEYOND_MIN / min(share, 1 - share) - 1e-9)


def quantile_interval(loads: ArrayLike, share: float, confidence: float = CONFIDENCE) -> Estimate:
    """Return the quantile of independent loads, in their unit; a timeout is infinite.

    Two of the loads by rank bound it (Thompson, Annals of Mathematical Statistics 7, 1936; Hahn and
    Meeker, Statistical Intervals, section 5.2), which covers with at least `confidence`, whatever
    the distribution. If no load is beyond a bound it is 0, or infinite.
    """
    x = np.sort(np.asarray(loads, dtype=float))
    n = len(x)
    if n == 0:
        return undetermined("no complete block is left")
    value = float(np.quantile(x, share, method="inverted_cdf"))
    if n < (fewest := blocks_min(share)):
        return undetermined(f"{are_too_few(n)}: it needs {fewest}", n, value)
    lower, upper = (int(rank[0]) for rank in _ranks(np.array([n]), share, confidence))
    low = float(x[lower - 1]) if lower else 0.0
    high = float(x[upper - 1]) if upper <= n else math.inf
    reason = "" if upper <= n else f"{are_too_few(n)} for an upper bound"
    return Estimate(value, low, high, n=n, reason=reason)


def blocks_to_bound(
    share: float, below: float, confidence: float, power: float = DECIDING_POWER
) -> int | None:
    """Return how many blocks place the quantile's bound on one side of a limit, with `power`.

    `below`: the share of loads below the limit. If it exceeds `share`, the upper bound has to be
    below the limit, otherwise the lower bound above it. None if more than `BLOCKS_COUNTED_MAX` are
    needed.
    """
    n = np.arange(blocks_min(share), BLOCKS_COUNTED_MAX + 1)
    lower, upper = _ranks(n, share, confidence)
    under = scipy.stats.binom(n, below)
    enough = n[(under.sf(upper - 1) if below > share else under.cdf(lower - 1)) >= power]
    return int(enough[0]) if len(enough) else None


def _ranks(n: Integers, share: float, confidence: float) -> tuple[Floats, Floats]:
    """Return the ranks, from 1, of the loads that bound the quantile; 0 and n + 1: none."""
    tail = (1 - confidence) / 2
    inner = scipy.stats.binom(n, share)
    return inner.ppf(tail), inner.ppf(1 - tail) + 1
