"""The performance gain: (mean X - mean reference) / mean reference; negative is faster.

Definition: Wolsing, Rüth, Wehrle, Hohlfeld 2019, section 4, for one site, network and metric, with
means over the runs. The paper gives no interval; ours follow from the runs in pairs, since each
block loads the site once with X and once with the reference.
"""

import math
from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import ArrayLike

from eyelevel.stats.estimate import Estimate, undetermined

CONFIDENCE = 0.95
LOWEST = -1.0  # no time is negative: cutting an interval here costs no coverage
ROUNDING = 1e-12  # a relative error below it is what floating point leaves of none


def performance_gain(
    values: ArrayLike, reference: ArrayLike, confidence: float = CONFIDENCE
) -> Estimate:
    """The gain of one site, network and metric from runs in pairs, of the same length.

    Interval: Student's t with n - 1 degrees of freedom on the linearised ratio (delta method): the
    standard error of mean(x)/mean(r) is that of mean(x - ratio r), divided by mean(r). It assumes
    pairs that are independent of each other, with residuals about normal, and a reference whose
    mean is far from zero compared with its error. A timeout (infinity) makes the gain undetermined:
    a mean that leaves it out, or takes the limit for its value, favours the stack that timed out.
    """
    x, r = np.asarray(values, dtype=float), np.asarray(reference, dtype=float)
    if x.shape != r.shape or x.ndim != 1:
        raise ValueError(f"runs come in pairs: got shapes {x.shape} and {r.shape}")
    n = len(x)
    if n == 0:
        return undetermined("no complete block is left")
    if np.isinf(x).any() or np.isinf(r).any():
        return undetermined("a load timed out, so there is no mean", n)
    if np.isnan(x).any() or np.isnan(r).any():
        raise ValueError("drop pairs without a value first")
    if (mean_reference := float(r.mean())) <= 0:
        return undetermined("the reference's mean is not above zero", n)
    ratio = float(x.mean()) / mean_reference
    if n < 2:
        return undetermined("one block shows no spread", n, ratio - 1)
    residuals = x - ratio * r
    error = float(residuals.std(ddof=1)) / math.sqrt(n) / mean_reference
    return with_interval(ratio - 1, error, n - 1, n, confidence)


def mean_gain(gains: Sequence[Estimate], confidence: float = CONFIDENCE) -> Estimate:
    """The mean over sites of their gains, each site counting alike.

    The interval covers the run-to-run noise of these very sites, not what other sites would show:
    the standard errors add in squares, degrees of freedom after Welch and Satterthwaite. It is
    undetermined as soon as one site's gain is: a mean over the other sites would be of other pages.
    """
    if not gains:
        return undetermined("no site")
    for gain in gains:
        if gain.value is None:
            return undetermined(gain.reason, len(gains))
    value = float(np.mean([gain.value for gain in gains]))
    for gain in gains:
        if gain.standard_error is None:
            return undetermined(gain.reason, len(gains), value)
    squares = [float(gain.standard_error or 0.0) ** 2 for gain in gains]
    freedoms = [float(gain.degrees_of_freedom or 1.0) for gain in gains]
    error = math.sqrt(sum(squares)) / len(gains)
    weights = sum(square**2 / freedom for square, freedom in zip(squares, freedoms, strict=True))
    freedom = sum(squares) ** 2 / weights if weights > 0 else 0.0
    return with_interval(value, error, freedom, len(gains), confidence)


def with_interval(
    value: float, error: float, freedom: float, n: int, confidence: float
) -> Estimate:
    """A gain with Student's t interval and p value; undetermined where there is no error."""
    if error <= ROUNDING:
        return undetermined("the runs show no spread at all", n, value)
    reach = float(scipy.special.stdtrit(freedom, 0.5 + confidence / 2)) * error
    p = 2 * float(scipy.special.stdtr(freedom, -abs(value) / error))
    low = max(LOWEST, value - reach)
    return Estimate(value, low, value + reach, p, error, freedom, n)
