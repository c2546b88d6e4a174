"""Intervals of a share."""

from math import sqrt

import scipy

from eyelevel.analysis.stats.estimate import Estimate, undetermined

Z_95 = 1.959963984540054
"""The normal distribution's 97.5th percentile."""


def binomial_interval(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval (1934), which covers with at least `confidence`.

    `trials` above 0, `successes` from 0 to `trials`.
    """
    tail = (1 - confidence) / 2
    low = scipy.stats.beta.ppf(tail, successes, trials - successes + 1) if successes else 0.0
    high = (
        scipy.stats.beta.ppf(1 - tail, successes + 1, trials - successes)
        if successes < trials
        else 1.0
    )
    return float(low), float(high)


def wilson_95(count: int, of: int) -> tuple[float, float] | None:
    """Return the bounds of a share's 95 % interval; None if `of` is 0.

    Wilson's score interval (1927): good for small shares, never outside 0 to 1.
    """
    if of == 0:
        return None
    share, z2 = count / of, Z_95**2
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    reach = Z_95 / (1 + z2 / of) * sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def wilson_estimate(count: int, of: int, of_nothing: str) -> Estimate:
    """Return the share with Wilson's interval; `of_nothing` is the reason if `of` is 0."""
    bounds = wilson_95(count, of)
    return Estimate(count / of, *bounds, n=of) if bounds else undetermined(of_nothing)
