"""The papers' gain, a ratio of means: (mean X - mean reference) / mean reference.

Definition: Wolsing, Rüth, Wehrle, Hohlfeld 2019, section 4, for one site, network and metric, with
means over the runs. The paper gives no interval; ours follow from the runs in pairs, since each
block loads the site once with X and once with the reference. Harm is the gain from the other side.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from eyelevel.analysis.stats.estimate import (
    CONFIDENCE,
    ROUNDING,
    Estimate,
    as_pairs,
    t_estimate,
    undetermined,
)
from eyelevel.analysis.stats.paired_gains import NO_SPREAD, mean_over_repetitions

LOWEST = -1.0  # no time is negative: cutting an interval here costs no coverage


def performance_gain(
    values: ArrayLike, reference: ArrayLike, confidence: float = CONFIDENCE
) -> Estimate:
    """Return the gain of one site, network and metric from runs in pairs, of the same length.

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


def ratio_over_sites(
    values: ArrayLike, reference: ArrayLike, confidence: float = CONFIDENCE
) -> Estimate:
    """Return the mean over sites of their gains, each site counting alike.

    `values` and `reference`: sites x repetitions, not-a-number if a site has no block in a
    repetition. Interval: each site's ratio linearised as in `performance_gain`, and Student's t
    over repetitions (`eyelevel.analysis.stats.paired_gains.mean_over_repetitions`), since a
    disturbance affects all sites of a repetition. It covers the run-to-run noise of the study's own
    sites, not other sites. It is undetermined if one site's gain is: a mean over the other sites
    would be of other pages.
    """
    x, r = (np.atleast_2d(np.asarray(runs, dtype=float)) for runs in (values, reference))
    there = ~(np.isnan(x) | np.isnan(r))
    n = int(there.any(axis=0).sum())
    if not there.size or not there.any(axis=1).all():
        return undetermined("no complete block is left", n)
    if np.isinf(x).any() or np.isinf(r).any():
        return undetermined("a load timed out, so there is no mean", n)
    mean, mean_reference = (np.mean(runs, axis=1, where=there) for runs in (x, r))
    if (mean_reference <= 0).any():
        return undetermined("the reference's mean is not above zero", n)
    ratio = (mean / mean_reference)[:, None]
    gain = mean_over_repetitions((x - ratio * r) / mean_reference[:, None] + ratio - 1, confidence)
    return gain if gain.low is None else replace(gain, low=max(LOWEST, gain.low))


def with_interval(
    value: float, error: float, freedom: float, n: int, confidence: float
) -> Estimate:
    """Return a gain with Student's t interval and p value; undetermined without an error."""
    if error <= ROUNDING:
        return undetermined(NO_SPREAD, n, value)
    gain = t_estimate(value, error, freedom, n, confidence)
    assert gain.low is not None
    return replace(gain, low=max(LOWEST, gain.low))


def harm(beside: ArrayLike, alone: ArrayLike) -> Estimate:
    """Return the harm to a metric of which less is better: (with - alone) / with, of means.

    Ware, Mukerjee, Seshan, Sherry 2019 (Beyond Jain's Fairness Index, HotNets), section 3: 0 is
    none, 1 the worst; negative if the loads with cross traffic were faster. Loads come in pairs, of
    one site, stack and repetition; the interval is that of `performance_gain`, mirrored.
    """
    return harm_of_gain(performance_gain(alone, beside))


def harm_of_gain(gain: Estimate) -> Estimate:
    """Return the harm, from the gain of the loads alone over those with cross traffic."""
    return replace(
        gain,
        value=None if gain.value is None else -gain.value,
        low=None if gain.high is None else -gain.high,
        high=None if gain.low is None else -gain.low,
    )
