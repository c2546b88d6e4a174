"""The gain of a quantile, such as the median or the 95th percentile, over sites."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eyelevel.stats.estimate import Estimate, undetermined

CONFIDENCE = 0.95
RESAMPLES = 4_999
PAIRS_MIN = 6  # fewer blocks are resampled into too few different sets

Pairs = tuple[NDArray[np.float64], NDArray[np.float64]]


def quantile_gain(
    sites: Sequence[Pairs], share: float, seed: int = 1, confidence: float = CONFIDENCE
) -> Estimate:
    """Mean over sites of quantile(values) / quantile(reference) - 1, over runs in pairs by site.

    Interval: percentiles of a bootstrap that draws blocks with replacement within each site, with
    the pinned PCG64 stream of `seed` (Davison and Hinkley, Bootstrap Methods, 1997, section 5.3);
    its coverage is approximate for few blocks and far quantiles. Assumes independent blocks. A
    timeout (infinity) takes its place in the quantiles: one that is infinite makes the gain so.
    """
    if not sites:
        return undetermined("no complete block is left")
    n = min(len(values) for values, _ in sites)
    if n == 0:
        return undetermined("no complete block is left")
    ratios = [_ratio(x[None, :], r[None, :], share)[0] for x, r in sites]
    value = float(np.mean(ratios)) - 1
    if math.isnan(value):
        return undetermined("both stacks' quantiles are timeouts", n)
    if n < PAIRS_MIN:
        return undetermined(f"{n} blocks are too few to be drawn again from", n, value)
    draw = np.random.Generator(np.random.PCG64(seed))
    means = np.zeros(RESAMPLES)
    for x, r in sites:
        chosen = draw.integers(0, len(x), size=(RESAMPLES, len(x)))
        means += _ratio(x[chosen], r[chosen], share) / len(sites)
    if np.isnan(means).any():
        return undetermined("both stacks' quantiles may be timeouts", n, value)
    tail = (1 - confidence) / 2
    low, high = (float(np.quantile(means, q, method="lower")) - 1 for q in (tail, 1 - tail))
    if low == high:
        return undetermined("the runs show no spread at all", n, value)
    return Estimate(value, low, high, n=n)


def _ratio(x: NDArray[np.float64], r: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    # Inverse of the empirical distribution: no infinity is averaged with a number.
    upper, lower = (np.quantile(s, share, axis=1, method="inverted_cdf") for s in (x, r))
    with np.errstate(invalid="ignore"):
        return upper / lower
