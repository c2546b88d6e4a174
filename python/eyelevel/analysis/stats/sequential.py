"""A confidence sequence: intervals that hold at all interim analyses of a study together.

A study may be analysed at any block from its first to its last planned one. The boundary is that of
the t test's mixture martingale; its level is chosen so that equal stacks cross it at any of these
analyses with exactly the chance that is set. Ville's inequality alone, which allows for analyses
without end, would leave two thirds of that chance unused in 60 blocks and cost a third more blocks
(docs/decisions/0004-stopping-early.md).
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike

from eyelevel.analysis.stats.estimate import Estimate, Floats, are_too_few, undetermined

SPREAD_AT_LAST = 3.5
"""The mixture's standard deviation of standardised effects, times the root of the last analysis: it
makes the boundary narrowest from a third of the planned blocks on. Any value keeps the level."""

EVERY_BLOCK_MAX = 200
"""The blocks up to which each is followed by an interim analysis: twice as many as in studies
(`eyelevel.analysis.stats.stopping_rule.EVERY_REPETITION_MAX`)."""

PATHS, STEPS_MAX = 20_000, 3_000_000
"""Simulated studies per calibration; long plans have fewer, so that it takes at most seconds."""
PATHS_MIN = 2_000
SEED = 30
_LOG_LIMITS = np.arange(-1.5, 10.0, 0.01)


@dataclass(frozen=True)
class Horizon:
    """The numbers of blocks at which a study may be analysed: from `first` to `last`."""

    first: int
    last: int

    @property
    def effect_spread(self) -> float:
        """The standard deviation of the mixture over standardised effects."""
        return SPREAD_AT_LAST / math.sqrt(self.last)


def confidence_sequence(
    values: ArrayLike, significance_level: float, horizon: Horizon, *, one_sided: bool = False
) -> Estimate:
    """Return the mean of `values` so far with an interval valid at every interim analysis.

    There is one value per repetition. The chance that the interval misses the true mean at any
    analysis of the horizon is `significance_level`; with `one_sided` it is that of each bound
    alone. It inverts the t test's mixture martingale

        E(n) = (1 + n g)^-1/2 ((1 + t^2/(n-1)) / (1 + t^2/((n-1) (1 + n g))))^(n/2),

    g = effect_spread^2: the Bayes factor of the t statistic with a normal prior on the standardised
    effect (Rouder et al., Psychonomic Bulletin and Review 16, 2009), a test martingale whatever the
    variance (Lai, Annals of Statistics 4, 1976; Perez-Ortiz, Lardy, de Heide and Grunwald, Annals
    of Statistics 52, 2024). Its limit comes from `crossing_chance` instead of Ville's inequality. p
    is the chance that equal stacks reach this E at any analysis. Assumes values that are
    independent and normal with one mean and variance. Undetermined while the interval is unbounded,
    with a timeout or without spread.
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
    reach = reach_in_errors(n, significance_level, horizon, one_sided=one_sided) * error
    if math.isinf(reach):
        return undetermined(f"{are_too_few(n)} to stop at", n, mean)
    t = mean / error
    p = crossing_chance(float(log_e(t, n, horizon.effect_spread)), horizon)
    p = max(p, 2 * float(scipy.special.stdtr(n - 1, -abs(t))))
    return Estimate(mean, mean - reach, mean + reach, p, error, n - 1, n)


def reach_in_errors(
    n: int, significance_level: float, horizon: Horizon, *, one_sided: bool = False
) -> float:
    """Return the distance from the mean to a bound after `n` values, in standard errors.

    Infinite outside of the horizon and while the interval is unbounded. It is at least that of a
    single analysis, Student's t: with two or three values E hardly rises with t, so that a limit on
    it is imprecise.
    """
    if not max(2, horizon.first) <= n <= horizon.last:
        return math.inf
    log_limit = log_limit_of(significance_level, horizon, one_sided=one_sided)
    tail = significance_level if one_sided else significance_level / 2
    at_once = -float(scipy.special.stdtrit(n - 1, tail))
    return max(reach_at(log_limit, n, horizon.effect_spread), at_once)


def reach_at(log_limit: float, n: int, effect_spread: float) -> float:
    """Return the t statistic at which log E reaches a limit after `n` values; infinite if none."""
    growth = 1 + n * effect_spread**2
    log_ratio = (math.log(growth) / 2 + log_limit) * 2 / n
    if log_ratio >= math.log(growth):
        return math.inf
    ratio = math.exp(log_ratio)
    return math.sqrt((n - 1) * max(ratio - 1, 0.0) / (1 - ratio / growth))


def crossing_chance(log_limit: float, horizon: Horizon, *, one_sided: bool = False) -> float:
    """Return the chance that log E reaches a limit at any analysis although the mean is 0.

    With `one_sided`, at an analysis at which the mean is above 0. Beyond the simulated limits it
    falls as Ville's bound does, which is larger than the true chance.
    """
    chances = _chances(horizon)[int(one_sided)]
    if log_limit >= _LOG_LIMITS[-1]:
        return float(chances[-1]) * math.exp(_LOG_LIMITS[-1] - log_limit)
    return math.exp(float(np.interp(log_limit, _LOG_LIMITS, np.log(chances))))


def log_limit_of(significance_level: float, horizon: Horizon, *, one_sided: bool = False) -> float:
    """Return the limit on log E that is reached with this chance (cf. `crossing_chance`)."""
    chances = _chances(horizon)[int(one_sided)]
    if significance_level <= chances[-1]:
        return float(_LOG_LIMITS[-1] + math.log(chances[-1] / significance_level))
    return float(np.interp(-math.log(significance_level), -np.log(chances), _LOG_LIMITS))


def log_e(t: Floats | float, n: int, effect_spread: float) -> Floats:
    """Return the log of E at a t statistic of `n` values."""
    growth = 1 + n * effect_spread**2
    square = np.square(t) / (n - 1)
    logs: Floats = (np.log1p(square) - np.log1p(square / growth)) * n / 2 - math.log(growth) / 2
    return logs


@lru_cache(maxsize=256)
def _chances(horizon: Horizon) -> tuple[Floats, Floats]:
    """Return the chances that E reaches each of _LOG_LIMITS, on both sides and on one.

    Importance sampling (Siegmund, Annals of Statistics 4, 1976): studies are drawn from the mixture
    itself, where reaching a limit is common, and each counts by 1 / E, its likelihood ratio, at the
    analysis that reached it.
    """
    spread, looks = horizon.effect_spread, _analysis_blocks(horizon)
    paths = max(PATHS_MIN, min(PATHS, STEPS_MAX // len(looks)))
    effects = spread * scipy.special.ndtri((np.arange(paths) + 0.5) / paths)
    draw = np.random.Generator(np.random.PCG64(SEED))
    sums, squares = np.zeros(paths), np.zeros(paths)
    limits = len(_LOG_LIMITS) + 1
    weights = np.zeros((2, limits))
    reached = np.zeros((2, paths), dtype=np.int64)  # how many limits each study has passed
    before = 0
    for n in looks:
        new, before = n - before, n
        step = new * effects + math.sqrt(new) * draw.standard_normal(paths)
        sums += step
        squares += step**2 / new + (draw.chisquare(new - 1, paths) if new > 1 else 0.0)
        mean = sums / n
        reached_now = log_e(mean / np.sqrt((squares - n * mean**2) / (n - 1) / n), n, spread)
        passed = np.searchsorted(_LOG_LIMITS, reached_now, side="right")
        for side, counts in enumerate((passed > reached[0], (passed > reached[1]) & (mean > 0))):
            weight, until = np.exp(-reached_now[counts]), passed[counts]
            weights[side] += np.bincount(reached[side][counts], weight, limits)
            weights[side] -= np.bincount(until, weight, limits)
            reached[side][counts] = until
    both, one = np.minimum.accumulate(weights.cumsum(axis=1)[:, :-1] / paths, axis=1)
    return np.clip(both, 1e-300, 1.0), np.clip(one, 1e-300, 1.0)


def _analysis_blocks(horizon: Horizon) -> list[int]:
    """Return every block up to EVERY_BLOCK_MAX, and then ever rarer ones.

    The step is 1 / EVERY_BLOCK_MAX of the number of blocks.
    """
    looks, n = [], max(2, horizon.first)
    while n < horizon.last:
        looks.append(n)
        n += max(1, n // EVERY_BLOCK_MAX)
    return [*looks, horizon.last]
