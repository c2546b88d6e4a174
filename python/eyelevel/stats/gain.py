"""The papers' gain, a ratio of means: (mean X - mean reference) / mean reference.

Definition: Wolsing, Rüth, Wehrle, Hohlfeld 2019, section 4, for one site, network and metric, with
means over the runs. The paper gives no interval; ours follow from the runs in pairs, since each
block loads the site once with X and once with the reference. Harm is the gain seen from the other
side.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from eyelevel.stats.estimate import (
    CONFIDENCE,
    ROUNDING,
    Estimate,
    as_pairs,
    sum_freedom,
    t_estimate,
    undetermined,
)

LOWEST = -1.0  # no time is negative: cutting an interval here costs no coverage


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
    x, r = as_pairs(values, reference)
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

    The interval covers the run-to-run noise of these very sites, not what other sites would show,
    and takes sites as independent, which loads of one repetition are not (a report's own gain does
    not: `eyelevel.stats.repetitions`): the standard errors add in squares, degrees of freedom after
    Welch and Satterthwaite. It is undetermined as soon as one site's gain is: a mean over the other
    sites would be of other pages.
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
    variances = [float(gain.standard_error or 0.0) ** 2 for gain in gains]
    freedoms = [float(gain.degrees_of_freedom or 1.0) for gain in gains]
    error = math.sqrt(sum(variances)) / len(gains)
    freedom = sum_freedom(variances, freedoms) if error > 0 else 0.0
    return with_interval(value, error, freedom, len(gains), confidence)


def with_interval(
    value: float, error: float, freedom: float, n: int, confidence: float
) -> Estimate:
    """A gain with Student's t interval and p value; undetermined if there is no error."""
    if error <= ROUNDING:
        return undetermined("the runs show no spread at all", n, value)
    gain = t_estimate(value, error, freedom, n, confidence)
    assert gain.low is not None
    return replace(gain, low=max(LOWEST, gain.low))


def harm(beside: ArrayLike, alone: ArrayLike) -> Estimate:
    """The harm to a metric of which less is better: (beside - alone) / beside, of means.

    Ware, Mukerjee, Seshan, Sherry 2019 (Beyond Jain's Fairness Index, HotNets), section 3: 0 is
    none, 1 the worst; negative if the loads beside cross traffic were faster. Loads come in pairs,
    of one site, stack and repetition; the interval is that of `performance_gain`, mirrored.
    """
    return harm_of_gain(performance_gain(alone, beside))


def harm_of_gain(gain: Estimate) -> Estimate:
    """The harm, from the gain of the loads alone over those beside cross traffic."""
    return replace(
        gain,
        value=None if gain.value is None else -gain.value,
        low=None if gain.high is None else -gain.high,
        high=None if gain.low is None else -gain.low,
    )
