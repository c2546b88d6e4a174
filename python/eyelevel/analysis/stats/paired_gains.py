"""Gains over sites whose loads share repetitions: the geometric mean, the median, the difference.

A disturbance of some minutes affects a stack on every site of a repetition, so that repetitions are
independent and blocks are not: each repetition counts by its mean over the sites. `values` and
`reference` are sites x repetitions (or one site's repetitions), of one shape: not-a-number if a
site has no block in a repetition, infinity for a timeout.

The papers' gain, a ratio of means: (mean X - mean reference) / mean reference.

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
    Floats,
    as_pairs,
    sum_freedom,
    t_estimate,
    undetermined,
)
from eyelevel.analysis.stats.paired import median_estimate

NO_SPREAD = "the runs show no spread"
ONE_BLOCK = "one block shows no spread"
NO_RATIO = "a load's value is 0, so there is no ratio"


def geometric_gain(
    values: ArrayLike, reference: ArrayLike, confidence: float = CONFIDENCE
) -> Estimate:
    """Return the geometric mean over sites of value / reference within blocks, less one.

    Student's t over the repetitions' means of log ratios (`mean_over_repetitions`). A timeout or a
    value of 0 makes it undetermined.
    """
    return of_gain(log_gain(values, reference, confidence))


def log_gain(values: ArrayLike, reference: ArrayLike, confidence: float = CONFIDENCE) -> Estimate:
    """Return the gain as a mean log ratio, the form in which it is computed."""
    x, r = pair_loads(values, reference)
    n = x.shape[-1]
    if n == 0:
        return undetermined("no complete block is left")
    if np.isinf(x).any() or np.isinf(r).any():
        return undetermined("a load timed out, so there is no mean", n)
    if (x <= 0).any() or (r <= 0).any():
        return undetermined(NO_RATIO, n)
    return mean_over_repetitions(np.log(x) - np.log(r), confidence)


ZERO_SHARE = 0.01
"""A mean of 0 counts as this share of the other stack's, so that a ratio is defined: 99 % less."""


def pair_log_ratios(values: ArrayLike, reference: ArrayLike) -> Floats:
    """Return the log ratio of each pair, sites x repetitions; all values are finite.

    If a value is 0, as blocking times are, no single pair needs to have a ratio. Then it is the
    pair's difference over the logarithmic mean of both stacks' means on its site, whose mean is the
    logarithm of the ratio of these means (`ZERO_SHARE` for a mean of 0). Its sign is that of the
    difference, so that a test of no difference is the test of the differences themselves.
    """
    x, r = (np.atleast_2d(side) for side in pair_loads(values, reference))
    if not ((x <= 0).any() or (r <= 0).any()):
        ratios: Floats = np.log(x) - np.log(r)
        return ratios
    there = ~np.isnan(x)
    counts = np.maximum(there.sum(axis=1), 1)
    means = [np.where(there, side, 0.0).sum(axis=1) / counts for side in (x, r)]
    scale = log_mean(*means)
    # Without any value above 0 there is no difference, whatever it is a share of.
    scaled: Floats = (x - r) / np.where(scale > 0, scale, 1.0)[:, None]
    return scaled


ZERO_LOADS_MIN = 0.75
"""With 0 in this share of one stack's loads or more, a ratio of means is one of a few loads."""


def find_zero_scale(values: ArrayLike, reference: ArrayLike) -> float:
    """Return what a log ratio of 1 is in the metric's unit if nearly all loads of a stack have 0.

    Returns 0 if they have not. All values are finite.
    """
    x, r = pair_loads(values, reference)
    there = ~np.isnan(x)
    if not there.any():
        return 0.0
    x, r = x[there], r[there]
    if max((x <= 0).mean(), (r <= 0).mean()) < ZERO_LOADS_MIN:
        return 0.0
    return float(log_mean(x.mean(), r.mean())) or 1.0  # as of no difference, in `pair_log_ratios`


def log_mean(mean: ArrayLike, mean_reference: ArrayLike) -> Floats:
    """Return the logarithmic mean of two means: their difference over that of their logarithms."""
    both = np.asarray(mean, dtype=float), np.asarray(mean_reference, dtype=float)
    own, other = (np.maximum(each, ZERO_SHARE * np.maximum(*both)) for each in both)
    with np.errstate(divide="ignore", invalid="ignore"):
        between: Floats = np.where(own == other, own, (own - other) / np.log(own / other))
    return between


def difference_over_sites(
    values: ArrayLike, reference: ArrayLike, confidence: float = CONFIDENCE
) -> Estimate:
    """Return the mean over sites of value - reference within blocks, in their unit.

    The interval is that of `mean_over_repetitions`.
    """
    x, r = pair_loads(values, reference)
    if np.isinf(x).any() or np.isinf(r).any():
        return undetermined("a load timed out, so there is no mean", x.shape[-1])
    return mean_over_repetitions(x - r, confidence)


def pair_loads(values: ArrayLike, reference: ArrayLike) -> tuple[Floats, Floats]:
    """Return both arrays, with not-a-number for each load whose pair has none."""
    x, r = np.asarray(values, dtype=float), np.asarray(reference, dtype=float)
    lone = np.isnan(x) | np.isnan(r)
    return np.where(lone, np.nan, x), np.where(lone, np.nan, r)


def repetition_values(differences: ArrayLike) -> Floats:
    """Return one value per repetition with a block; they have the mean and error of all blocks.

    `differences`: sites x repetitions, at least two blocks per site. The mean of the values is the
    mean over sites of their means; their standard deviation over the square root of their number is
    its error, as in `mean_over_repetitions`. If no block is lost these are the repetitions' means
    over sites. If blocks are lost, a repetition has the overall mean plus its sites' distances from
    their own means, each by its weight: without centring, a repetition that lacks a slow site would
    be fast, and the scatter between sites would widen the interval.
    """
    d = np.atleast_2d(np.asarray(differences, dtype=float))
    d = d[:, ~np.isnan(d).all(axis=0)]
    there = ~np.isnan(d)
    blocks, n = there.sum(axis=1), d.shape[1]
    means = np.where(there, d, 0.0).sum(axis=1) / blocks
    weights = np.sqrt(n * (n - 1) / (blocks * (blocks - 1.0))) / len(d)
    residuals: Floats = np.where(there, d - means[:, None], 0.0) * weights[:, None]
    values: Floats = means.mean() + residuals.sum(axis=0)
    return values


def mean_over_repetitions(differences: ArrayLike, confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean over sites of their means, by Student's t over repetitions.

    Each site counts alike. If no block is lost, this is Student's t of the repetitions' means over
    sites. If blocks are lost, a repetition has the sum of its sites' residuals, each by its weight
    in the mean (Liang and Zeger, Biometrika 73, 1986, with each site's own n / (n - 1)); the
    degrees of freedom are one less than the repetitions, or Welch and Satterthwaite's of the sites'
    own errors if a site with few blocks has most of the error. Assumes repetitions that are
    independent, with means about normal. R, with every block: `t.test(colMeans(differences))`.
    """
    d = np.atleast_2d(np.asarray(differences, dtype=float))
    there = ~np.isnan(d)
    blocks = there.sum(axis=1)
    n = int(there.any(axis=0).sum())
    if n == 0 or not blocks.all():
        return undetermined("no complete block is left", n)
    means = np.where(there, d, 0.0).sum(axis=1) / blocks
    value = float(means.mean())
    if blocks.min() < 2:
        return undetermined(ONE_BLOCK, n, value)
    weights = 1 / np.sqrt(blocks * (blocks - 1.0))
    weighted = np.where(there, d - means[:, None], 0.0) * weights[:, None]
    sums = weighted.sum(axis=0)
    error = math.sqrt(float(sums @ sums)) / len(d)
    if error <= ROUNDING * max(1.0, abs(value)):
        return undetermined(NO_SPREAD, n, value)
    freedom = sum_freedom((weighted**2).sum(axis=1).tolist(), (blocks - 1).tolist())
    return t_estimate(value, error, min(n - 1.0, freedom), n, confidence)


def median_gain(
    values: ArrayLike, reference: ArrayLike, confidence: float = CONFIDENCE
) -> Estimate:
    """Return the median over repetitions of their median sites' value / reference, less one.

    For a single site it is that of the blocks. Interval and p are those of `median_estimate`, over
    the repetitions' medians. A few slow loads or timeouts change it little, which is why it
    accompanies the mean. Assumes independent repetitions. Two timeouts of a block are equal up to
    the limit.
    """
    x, r = (np.atleast_2d(np.asarray(runs, dtype=float)) for runs in (values, reference))
    logs = _log_ratios(x, r)
    logs = logs[:, ~np.isnan(logs).all(axis=0)]
    if logs.shape[1] == 0:
        return undetermined("no complete block is left")
    with np.errstate(invalid="ignore"):
        # With two sites, one may have timed out with either stack: they have no direction.
        medians = np.nan_to_num(np.nanmedian(logs, axis=0), posinf=np.inf, neginf=-np.inf)
    return as_gain(median_estimate(medians, "repetitions", confidence))


def as_gain(on_log: Estimate) -> Estimate:
    """Return a mean log ratio as a gain with its bounds; the error stays the logarithm's."""
    value, low, high = (
        None if bound is None else log_to_share(bound)
        for bound in (on_log.value, on_log.low, on_log.high)
    )
    return replace(on_log, value=value, low=low, high=high)


def log_to_share(log_ratio: float) -> float:
    """Return e^x - 1, infinite where no float holds it: two noisy blocks can have such a bound."""
    try:
        return math.expm1(log_ratio)
    except OverflowError:
        return math.inf


def of_gain(on_log: Estimate) -> Estimate:
    """Return a mean log ratio as a gain with its own standard error."""
    gain = as_gain(on_log)
    if gain.value is None or on_log.standard_error is None:
        return gain
    return replace(gain, standard_error=on_log.standard_error * (1 + gain.value))


def _log_ratios(x: Floats, r: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x == r, 0.0, np.log(x) - np.log(r))


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
