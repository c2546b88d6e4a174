"""The gain of a quantile, such as the median or the 95th percentile, over sites.

Compute one run's gain with an interval of any confidence, for gates and comparisons of runs.
"""

import math
from dataclasses import replace

import numpy as np
import scipy
from numpy.typing import ArrayLike

from eyelevel.analysis.stats.censoring import Timeouts, timeouts, up_to_limit
from eyelevel.analysis.stats.estimate import CONFIDENCE, Estimate, Floats, are_too_few, undetermined
from eyelevel.analysis.stats.paired_gains import (
    NO_RATIO,
    as_gain,
    mean_over_repetitions,
    pair_log_ratios,
    repetition_values,
)
from eyelevel.analysis.stats.pooled import Pool, estimate_pooled_log_gain
from eyelevel.analysis.stats.quantile import (
    BLOCKS_COUNTED_MAX,
    DECIDING_POWER,
    Integers,
    blocks_min,
)
from eyelevel.analysis.stats.sequential import Horizon, confidence_sequence

RESAMPLES = 1_999
ERROR_ALLOWANCE = 1.1
"""The factor on the predicted error: the bootstrap's own varies, and is 5 % too large for a few
tens of blocks (simulated: docs/decisions/0015-gates.md)."""

PILOT_CONFIDENCE = 0.8
REPETITIONS_MIN = 6  # fewer give too few different resamples

ENDS = (-1.0, math.inf)
"""The bounds of any gain. A gain in all resamples needs no spread, as when every load timed out."""


def quantile_gain(
    values: ArrayLike,
    reference: ArrayLike,
    share: float,
    confidence: float = CONFIDENCE,
    seed: int = 1,
) -> Estimate:
    """Return the geometric mean over sites of quantile(values) / quantile(reference), less one.

    `values` and `reference` are sites x repetitions: not-a-number if a site has no block in a
    repetition, infinity for a timeout, which has its place in the quantile. Interval: Student's t
    with n - 1 degrees of freedom on the logarithm, its standard error by a bootstrap that draws
    repetitions with replacement, each with all its sites, by the pinned PCG64 stream of `seed`
    (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 6). If a resample is
    infinite, the interval is that of the resamples' quantiles, at levels that are widened for few
    repetitions (Hesterberg, The American Statistician 69, 2015, section 5.3). Assumes independent
    repetitions; coverage by simulation: docs/decisions/0015-gates.md. `standard_error` is the
    logarithm's. Undetermined if the reference's quantile is 0, as blocking times often are, and if
    too few loads lie beyond the quantile (`blocks_min`).
    """
    x, r = (np.atleast_2d(np.asarray(runs, dtype=float)) for runs in (values, reference))
    there = ~(np.isnan(x) | np.isnan(r))
    n = int(there.sum(axis=1).min()) if x.size else 0
    if n == 0:
        return undetermined("no complete block is left", n)
    loads = [(x[site, present], r[site, present]) for site, present in enumerate(there)]
    upper, lower = (
        np.array([np.quantile(pair[side], share, method="inverted_cdf") for pair in loads])
        for side in (0, 1)
    )
    if ((lower <= 0) & (upper < math.inf)).any():
        return undetermined("the reference's quantile is 0", n)
    log = float(np.mean(_log_ratio(upper, lower)))
    if math.isnan(log):
        return undetermined("both stacks' quantiles are timeouts", n)
    value = math.expm1(log)
    if n < (fewest := repetitions_min(share)):
        return undetermined(f"{are_too_few(n)}: it needs {fewest}", n, value)
    draws = _draws(x, r, there, share, seed)
    if np.isnan(draws).any():
        what = "0" if (r == 0).any() else "timeouts"
        return undetermined(f"both stacks' quantiles may be {what}", n, value)
    return _with_interval(log, draws, n, confidence)


def repetitions_min(share: float) -> int:
    """Return the fewest blocks with which `quantile_gain` has an interval."""
    return max(REPETITIONS_MIN, blocks_min(share))


def blocks_to_decide(
    one_block_error: float,
    distance: float,
    share: float,
    confidence: float,
    power: float = DECIDING_POWER,
) -> int | None:
    """Return how many blocks keep a bound from a limit at `distance`, in `power` of runs.

    `distance`: that of the limit from the truth, on the logarithm's scale, where n blocks have the
    standard error `one_block_error` / sqrt(n). None if more than `BLOCKS_COUNTED_MAX` are needed.
    """
    error, fewest = ERROR_ALLOWANCE * one_block_error, repetitions_min(share)
    return blocks_to_part(error, distance, confidence, power, fewest=fewest)


def one_block_error(deviation: float, share: float) -> float:
    """Return the standard error of a quantile's log gain for one block of lognormal loads.

    `deviation`: the standard deviation of the logarithm of a block's ratio. The quantile's variance
    is share (1 - share) / density^2 (Cramer, Mathematical Methods of Statistics, 1946, 28.5).
    """
    density = float(scipy.stats.norm.pdf(scipy.stats.norm.ppf(share)))
    return deviation * math.sqrt(share * (1 - share)) / density


def one_block_error_at_most(gain: Estimate) -> float | None:
    """Return the error of one block by an earlier run's gain, at its upper 80 % limit.

    A pilot's own error is as often too small as too large; with its upper confidence limit the
    predicted blocks suffice (Browne, Statistics in Medicine 14, 1995). None without an interval.
    """
    if gain.standard_error is None:
        return None
    freedom = gain.degrees_of_freedom or gain.n - 1
    lowest = float(scipy.stats.chi2.ppf(1 - PILOT_CONFIDENCE, freedom))
    return gain.standard_error * math.sqrt(gain.n * freedom / lowest)


def _with_interval(log: float, draws: Floats, n: int, confidence: float) -> Estimate:
    value = math.expm1(log)
    reach = float(scipy.special.stdtrit(n - 1, 0.5 + confidence / 2))
    if np.isinf(draws).any():
        tail = float(scipy.special.ndtr(-reach * math.sqrt(n / (n - 1))))
        low = float(np.quantile(draws, tail, method="lower"))
        high = float(np.quantile(draws, 1 - tail, method="higher"))
        if low == high and math.expm1(low) not in ENDS:
            return undetermined("the runs show no spread", n, value)
        return Estimate(value, math.expm1(low), math.expm1(high), n=n)
    error = float(draws.std(ddof=1))
    if error <= 1e-12:
        return undetermined("the runs show no spread", n, value)
    low, high = math.expm1(log - reach * error), math.expm1(log + reach * error)
    return Estimate(value, low, high, None, error, n - 1, n)


def _draws(x: Floats, r: Floats, there: Floats, share: float, seed: int) -> Floats:
    """Return the log gain of each resample of the repetitions."""
    draw = np.random.Generator(np.random.PCG64(seed))
    n = x.shape[1]
    times = draw.multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    total = np.zeros(RESAMPLES)
    for site, present in enumerate(there):
        counts = times[:, present]
        upper, lower = (_quantiles(runs[site, present], counts, share) for runs in (x, r))
        total += _log_ratio(upper, lower) / len(x)
    return total


def _quantiles(loads: Floats, counts: Integers, share: float) -> Floats:
    """Return a quantile of the loads per row of `counts`, by the inverse distribution.

    It does not average loads.
    """
    order = np.argsort(loads)
    below = counts[:, order].cumsum(axis=1)
    wanted = np.maximum(1, np.ceil(share * below[:, -1:] - 1e-9))
    quantiles: Floats = loads[order][(below >= wanted).argmax(axis=1)]
    return quantiles


def _log_ratio(upper: Floats, lower: Floats) -> Floats:
    # Against a reference of 0 any time is unbounded, as a timeout is.
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.log(upper / lower), dtype=float)


Loads = tuple[ArrayLike, ArrayLike, ArrayLike]
"""The values and the reference's of one run, as in `eyelevel.analysis.stats.paired_gains`, and the
limit that a timeout stands for, by site."""


def compute_bounded_gain(
    loads: Loads,
    confidence: float = CONFIDENCE,
    horizon: Horizon | None = None,
    pool: Pool | None = None,
) -> tuple[Estimate, Timeouts]:
    """Return the gain of a report with bounds of this confidence, and the timeouts.

    It is Student's t, as in `eyelevel.analysis.stats.pooled.estimate_pooled_gain`. With the
    `horizon` of a study that may stop early, each bound is a one-sided confidence sequence that
    holds with `confidence` alone: the truth lies on one side of a limit, so that only one of the
    two can be wrong. With too many timeouts for a mean, the gain in which they count as their limit
    is still a bound of the true one if only one stack timed out: the other bound is then infinite
    (or -1). `standard_error` is that of the logarithm.
    """
    late = timeouts(*loads)
    if late.bound == "either way" and late.too_many:
        return undetermined(late.too_many, late.pairs), late
    gain = as_gain(compute_bounded_log_gain(loads, confidence, horizon, pool, one_sided=True))
    if not late.too_many or not gain.determined:
        return gain, late
    if late.bound == "at least":
        return replace(gain, high=math.inf), late
    return replace(gain, low=-1.0), late


def compute_bounded_log_gain(
    loads: Loads,
    confidence: float,
    horizon: Horizon | None = None,
    pool: Pool | None = None,
    *,
    one_sided: bool = False,
) -> Estimate:
    """Return the gain as a mean log ratio, also with timeouts; `one_sided` needs a `horizon`."""
    values, reference = (np.atleast_2d(up_to_limit(runs, loads[2])) for runs in loads[:2])
    on_log = estimate_pooled_log_gain(values, reference, pool, confidence)
    if on_log.reason == NO_RATIO:
        on_log = mean_over_repetitions(pair_log_ratios(values, reference), confidence)
    if horizon is None or on_log.value is None:
        return on_log
    ratios = pair_log_ratios(values, reference)
    if (~np.isnan(ratios)).sum(axis=1).min() < 2:
        return on_log
    level = 1 - confidence
    return confidence_sequence(repetition_values(ratios), level, horizon, one_sided=one_sided)


def blocks_to_part(
    one_block_error: float,
    distance: float,
    confidence: float,
    power: float = DECIDING_POWER,
    *,
    fewest: int = 2,
    runs: int = 1,
) -> int | None:
    """Return how many blocks separate Student's interval from a limit, in `power` of studies.

    `distance`: that of the limit from the truth, on the logarithm's scale, where n blocks in each
    of the `runs` have the standard error `one_block_error` / sqrt(n). None if more than
    `BLOCKS_COUNTED_MAX` are needed.
    """
    n = np.arange(fewest, BLOCKS_COUNTED_MAX + 1)
    shares = 0.5 + confidence / 2, power
    reach = sum(scipy.special.stdtrit(runs * (n - 1), share) for share in shares)
    enough = n[reach * one_block_error <= distance * np.sqrt(n)]
    return int(enough[0]) if len(enough) else None
