"""Timeouts as censored values: the restricted mean, and the log-rank test."""

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike

from eyelevel.analysis.stats.estimate import (
    CONFIDENCE,
    Estimate,
    Floats,
    as_pairs,
    t_estimate,
    undetermined,
)
from eyelevel.analysis.stats.hypothesis.difference import (
    DifferenceTest,
    as_groups,
    test_result,
    why_untestable,
)


def restricted_mean_difference(
    values: ArrayLike, reference: ArrayLike, limit: float, confidence: float = CONFIDENCE
) -> Estimate:
    """Return the difference of the mean times up to `limit`: values - reference, over blocks.

    It is in their unit. The restricted mean E[min(T, limit)] (Irwin 1949; Royston and Parmar, BMC
    Med. Res. Methodology 13, 2013) is what a study with timeouts at `limit` (infinities here) can
    estimate without guessing: since every load is observed to the limit, it is the plain mean of
    min(T, limit). It understates how much slower a stack that times out is. Student's t over pairs:
    assumes independent pairs, and enough of them for a mean of bounded values to be about normal.
    """
    x, r = as_pairs(values, reference)
    differences = np.minimum(x, limit) - np.minimum(r, limit)
    n = len(differences)
    if n == 0:
        return undetermined("no complete block is left")
    value = float(differences.mean())
    if n < 2 or np.ptp(differences) == 0:
        return undetermined("the differences show no spread", n, value)
    error = float(differences.std(ddof=1)) / math.sqrt(n)
    return t_estimate(value, error, n - 1, n, confidence)


def log_rank(values: ArrayLike, reference: ArrayLike, limit: float) -> DifferenceTest:
    """Return the test of equal distributions of load times, with timeouts censored at `limit`.

    Mantel's test (1966); assumes independent runs and censoring that does not depend on the time,
    as with a fixed limit; most powerful if hazards are proportional. It does not use that runs come
    in pairs. R: `survival::survdiff(Surv(time, ended) ~ stack)`.
    """
    x, r = as_groups([values, reference])
    if reason := why_untestable([x, r], means=False):
        return DifferenceTest(reason=reason)
    if np.isinf(x).all() and np.isinf(r).all():
        return DifferenceTest(reason="no load ended within the limit")
    test = scipy.stats.logrank(_mark_censored(x, limit), _mark_censored(r, limit))
    return test_result(float(test.statistic), float(test.pvalue))


def _mark_censored(values: Floats, limit: float) -> "scipy.stats.CensoredData":
    late = np.isinf(values)
    return scipy.stats.CensoredData.right_censored(np.where(late, limit, values), late)
