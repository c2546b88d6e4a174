"""The performance gain of two runs that share no blocks, such as last week's and today's."""

import math

import numpy as np
from numpy.typing import ArrayLike

from eyelevel.stats.estimate import Estimate, undetermined
from eyelevel.stats.gain import CONFIDENCE, with_interval
from eyelevel.stats.hypothesis.difference import as_groups


def unpaired_gain(
    values: ArrayLike, reference: ArrayLike, confidence: float = CONFIDENCE
) -> Estimate:
    """(mean - mean of reference) / mean of reference, of independent samples of any sizes.

    Student's t on the linearised ratio with Welch and Satterthwaite's degrees of freedom. Assumes
    runs that are independent and about normal, and, since nothing pairs them, that both were made
    under like conditions: a machine that has changed changes the gain. Timeouts, fewer than two
    runs and no spread make it undetermined.
    """
    x, r = as_groups([values, reference])
    n = min(len(x), len(r))
    if n == 0:
        return undetermined("no counted load")
    if not (np.isfinite(x).all() and np.isfinite(r).all()):
        return undetermined("a load timed out, so there is no mean", n)
    if (mean := float(r.mean())) <= 0:
        return undetermined("the reference's mean is not above zero", n)
    ratio = float(x.mean()) / mean
    if n < 2:
        return undetermined("one run shows no spread", n, ratio - 1)
    own = float(x.var(ddof=1)) / len(x) / mean**2
    other = ratio**2 * float(r.var(ddof=1)) / len(r) / mean**2
    if own + other == 0:
        return undetermined("the runs show no spread at all", n, ratio - 1)
    freedom = (own + other) ** 2 / (own**2 / (len(x) - 1) + other**2 / (len(r) - 1))
    return with_interval(ratio - 1, math.sqrt(own + other), freedom, n, confidence)
