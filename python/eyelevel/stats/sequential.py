"""A confidence sequence: intervals that hold however often one looks and whenever one stops."""

import math

import numpy as np
from numpy.typing import ArrayLike

from eyelevel.stats.estimate import Estimate, undetermined

EFFECT_SPREAD = 1.0
"""Standard deviation of the standardised effects that the sequence is tuned for. Any value keeps
the error rate; this one (the unit information prior) is narrowest for effects of about the spread
between blocks."""


def confidence_sequence(
    values: ArrayLike, significance_level: float, effect_spread: float = EFFECT_SPREAD
) -> Estimate:
    """The mean of `values` so far, one a repetition, with an interval valid at any stopping time.

    The chance that the interval misses the true mean at any number of values is at most
    `significance_level`. It inverts the t test's mixture martingale

        E(n) = (1 + n g)^-1/2 ((1 + t^2/(n-1)) / (1 + t^2/((n-1) (1 + n g))))^(n/2),

    g = effect_spread^2: the Bayes factor of the t statistic with a normal prior on the standardised
    effect (Rouder et al., Psychonomic Bulletin and Review 16, 2009), which is a test martingale
    whatever the variance (Lai, Annals of Statistics 4, 1976; Perez-Ortiz, Lardy, de Heide and
    Grunwald, Annals of Statistics 52, 2024; Wang and Ramdas, Sequential Analysis 44, 2025), with
    Ville's inequality. p is the smallest level at which zero is outside: 1/E. Assumes values that
    are independent and normal with one mean and variance. Undetermined while the interval is
    unbounded, with a timeout or without spread.
    """
    x = np.asarray(values, dtype=float)
    n = len(x)
    if n == 0:
        return undetermined("no complete block is left")
    if not np.isfinite(x).all():
        return undetermined("a load timed out, so there is no mean", n)
    mean = float(x.mean())
    if n < 2 or np.ptp(x) == 0:
        return undetermined("the blocks so far show no spread", n, mean)
    error = float(x.std(ddof=1)) / math.sqrt(n)
    reach = reach_in_errors(n, significance_level, effect_spread) * error
    if math.isinf(reach):
        return undetermined(f"{n} blocks are too few to stop at", n, mean)
    p = _p(mean / error, n, 1 + n * effect_spread**2)
    return Estimate(mean, mean - reach, mean + reach, p, error, n - 1, n)


def reach_in_errors(
    n: int, significance_level: float, effect_spread: float = EFFECT_SPREAD
) -> float:
    """Half the interval's width after `n` values, in standard errors of their mean.

    It depends on nothing else; infinite while the interval is unbounded.
    """
    growth = 1 + n * effect_spread**2
    log_limit = (math.log(growth) / 2 - math.log(significance_level)) * 2 / max(n, 1)
    limit = math.exp(log_limit) if log_limit < math.log(growth) else math.inf
    if n < 2 or limit >= growth:
        return math.inf
    return math.sqrt((n - 1) * (limit - 1) / (1 - limit / growth))


def _p(t: float, n: int, growth: float) -> float:
    square = t**2 / (n - 1)
    log_e = (math.log1p(square) - math.log1p(square / growth)) * n / 2 - math.log(growth) / 2
    return min(1.0, math.exp(-log_e))
