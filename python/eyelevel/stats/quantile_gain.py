"""The gain of a quantile, such as the median or the 95th percentile, over sites."""

import math
from collections.abc import Sequence

import numpy as np

from eyelevel.stats.estimate import CONFIDENCE, Estimate, Floats, undetermined

RESAMPLES = 4_999
PAIRS_MIN = 6  # fewer blocks are resampled into too few different sets

ENDS = (-1.0, math.inf)
"""The ends of all gains: one that all draws give needs no spread, as when every load timed out."""

Pairs = tuple[Floats, Floats]


def quantile_gain(
    sites: Sequence[Pairs], share: float, seed: int = 1, confidence: float = CONFIDENCE
) -> Estimate:
    """Mean over sites of quantile(values) / quantile(reference) - 1, over runs in pairs by site.

    Interval: percentiles of a bootstrap that draws blocks with replacement within each site, with
    the pinned PCG64 stream of `seed` (Davison and Hinkley, Bootstrap Methods, 1997, section 5.3);
    its coverage is approximate for few blocks and far quantiles. Assumes independent blocks. A
    timeout (infinity) takes its place in the quantiles: one that is infinite makes the gain so.
    Undetermined if the reference's quantile is 0, as many a page's blocking time is.
    """
    if not sites:
        return undetermined("no complete block is left")
    n = min(len(values) for values, _ in sites)
    if n == 0:
        return undetermined("no complete block is left")
    quantiles = [_quantiles(x[None, :], r[None, :], share) for x, r in sites]
    if any(lower[0] <= 0 and upper[0] < math.inf for upper, lower in quantiles):
        return undetermined("the reference's quantile is 0", n)
    value = float(np.mean([_ratio(*quantile)[0] for quantile in quantiles])) - 1
    if math.isnan(value):
        return undetermined("both stacks' quantiles are timeouts", n)
    if n < PAIRS_MIN:
        return undetermined(f"{n} blocks are too few to resample", n, value)
    draw = np.random.Generator(np.random.PCG64(seed))
    means = np.zeros(RESAMPLES)
    zero = False
    for x, r in sites:
        chosen = draw.integers(0, len(x), size=(RESAMPLES, len(x)))
        upper, lower = _quantiles(x[chosen], r[chosen], share)
        zero |= bool(((upper <= 0) & (lower <= 0)).any())
        means += _ratio(upper, lower) / len(sites)
    if np.isnan(means).any():
        what = "0" if zero else "timeouts"
        return undetermined(f"both stacks' quantiles may be {what}", n, value)
    tail = (1 - confidence) / 2
    low, high = (float(np.quantile(means, q, method="lower")) - 1 for q in (tail, 1 - tail))
    if low == high and low not in ENDS:
        return undetermined("the runs show no spread at all", n, value)
    return Estimate(value, low, high, n=n)


def _quantiles(x: Floats, r: Floats, share: float) -> Pairs:
    """Quantiles by row, from the inverse distribution, which averages no infinity with a number."""
    upper, lower = (np.quantile(s, share, axis=1, method="inverted_cdf") for s in (x, r))
    return upper, lower


def _ratio(upper: Floats, lower: Floats) -> Floats:
    # Over a reference of 0 any time is without bound, as a timeout is.
    with np.errstate(invalid="ignore", divide="ignore"):
        return upper / lower
