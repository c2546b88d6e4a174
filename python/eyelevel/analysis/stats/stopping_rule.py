"""Decide when a comparison of a study that may stop early ends, for many studies at once.

A comparison's values are logarithms of ratios, one per repetition; its interval is the confidence
sequence of their mean (`eyelevel.analysis.stats.sequential`), which holds at all interim analyses
together. So this rule cannot invalidate the interval: it only decides how a study's time is spent.
Studies, simulations and predictions use this one function.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from eyelevel.analysis.stats.estimate import POWER, Floats
from eyelevel.analysis.stats.sequential import Horizon, reach_in_errors

State = Literal[
    "open",
    "clear sign",
    "no difference that matters",
    "clear sign, less than matters",
    "futile",
    "loads unfinished",
]
STATES: tuple[State, ...] = get_args(State)
OPEN, CLEAR_SIGN, ALIKE, SMALL, FUTILE, UNFINISHED = range(len(STATES))
"""The states of a comparison; the last one results from unfinished loads, and not from `decide`."""

FUTILE_CHANCE = 0.02
"""The chance below which an outcome is out of reach. It costs at most two in a hundred of the
studies that would find a difference (docs/decisions/0004-stopping-early.md)."""

BLOCKS_COUNTED_MAX = 1000
"""The most blocks considered; beyond it only a quieter machine or a larger effect helps."""

EVERY_REPETITION_MAX = 100
"""The repetitions up to which each is followed by an interim analysis; later steps are a hundredth.
An analysis takes time in proportion to the loads, so that a study of any length spends the same
share of its time on them."""


@dataclass(frozen=True)
class Rule:
    """The rule by which one comparison is decided; effects are shares of the reference.

    `significance_level`: this comparison's part of the family's; `horizon`: the interim analyses
    that share it.
    """

    smallest_effect: float
    significance_level: float
    horizon: Horizon
    futility: bool = True

    @property
    def bounds(self) -> tuple[float, float]:
        """The logarithms of the smallest effects of interest."""
        effect = self.smallest_effect
        return math.log1p(-effect) if effect < 1 else -math.inf, math.log1p(effect)

    def reaches(self, n: int) -> tuple[float, float]:
        """Return the distances of interval and one-sided bound after `n`, in standard errors."""
        level, horizon = self.significance_level, self.horizon
        interval, bound = (
            reach_in_errors(n, level, horizon, one_sided=side) for side in (False, True)
        )
        return interval, bound


def interim_repetitions(repetitions_min: int, repetitions: int) -> list[int]:
    """Return the repetitions after which interim analyses happen, without the final one."""
    return [
        repetition
        for repetition in range(repetitions_min, repetitions)
        if repetition % math.ceil(repetition / EVERY_REPETITION_MAX) == 0
    ]


def decide(
    rule: Rule, n: int, n_end: int, values: Floats, errors: Floats, medians: Floats
) -> NDArray[np.int8]:
    """Return the state of each comparison, a number in STATES, after `n` of `n_end` repetitions.

    `values` and `errors` are the means of its log ratios and their standard errors, `medians` their
    medians. Its sign is clear if the interval excludes 0 and the median agrees. It differs by less
    than matters if both one-sided bounds, each at the comparison's whole level, lie within the
    smallest effect: no truth can be outside on both sides, so two tests need no correction
    (Schuirmann 1987; Berger and Hsu, Statistical Science 11, 1996). It is futile if neither is
    likely by the end. Not-a-number, no error and an unbounded interval are open.
    """
    low, high = rule.bounds
    interval, bound = rule.reaches(n)
    errors = np.where((errors > 0) & math.isfinite(interval), errors, np.nan)
    alike = (low < values - bound * errors) & (values + bound * errors < high)
    sign = (np.abs(values) > interval * errors) & (values * medians > 0)
    futile = np.zeros(np.shape(values), dtype=bool)
    if rule.futility and n < n_end:
        signs, equivalences = chances_at_end(rule, n, n_end, values, errors)
        futile = (signs < FUTILE_CHANCE) & (equivalences < FUTILE_CHANCE)
    conditions = [alike & sign, alike, sign, futile]
    return np.select(conditions, [SMALL, ALIKE, CLEAR_SIGN, FUTILE], OPEN).astype(np.int8)


def chances_at_end(
    rule: Rule, n: int, n_end: int, values: Floats, errors: Floats
) -> tuple[Floats, Floats]:
    """Return the chances of a clear sign and of no difference that matters at block `n_end`.

    The mean at the end is predicted from the values so far: Student's t about their mean, with the
    variance of the remaining values (Spiegelhalter, Freedman and Blackburn, Controlled Clinical
    Trials 7, 1986).
    """
    return _chances(rule.bounds, rule.reaches(n_end), n, n_end, values, errors)


def _chances(
    bounds: tuple[float, float],
    reaches: tuple[float, float],
    n: int,
    n_end: int,
    values: Floats,
    errors: Floats,
) -> tuple[Floats, Floats]:
    deviation = errors * math.sqrt(n)
    interval, bound = (reach * deviation / math.sqrt(n_end) for reach in reaches)
    error = deviation * math.sqrt(1 / n - 1 / n_end)

    def below(limit: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            chance: Floats = scipy.special.stdtr(n - 1, (limit - values) / error)
        return chance

    low, high = bounds
    sign = below(-interval) + 1 - below(interval)
    return sign, np.maximum(below(high - bound) - below(low + bound), 0.0)


def blocks_to_decide(
    rule: Rule, n: int, value: float, error: float, power: float = POWER
) -> int | None:
    """Return the blocks, to two digits, of a study that decides this comparison with `power`.

    The chance is based on the data so far. None if BLOCKS_COUNTED_MAX blocks are too few. A study's
    reaches at its end hardly depend on its length, so that the second pass corrects the first.
    """
    counts = sorted({two_digits(n * 1.05**step) for step in range(1, 200)})
    counts = [count for count in counts if n < count <= BLOCKS_COUNTED_MAX]

    reaches = rule.reaches(rule.horizon.last)
    found = None
    for _ in range(2):

        def enough(count: int, reaches: tuple[float, float] = reaches) -> bool:
            given = np.asarray(value), np.asarray(error)
            return float(sum(_chances(rule.bounds, reaches, n, count, *given))) >= power

        first = bisect_left(counts, True, key=enough)
        if first == len(counts):
            return None
        found = counts[first]
        reaches = replace(rule, horizon=replace(rule.horizon, last=found)).reaches(found)
    return found


def two_digits(count: float) -> int:
    """Return a number of blocks rounded up to two digits."""
    step = int(10 ** max(0, math.floor(math.log10(count)) - 1))
    return math.ceil(count / step) * step


@dataclass(frozen=True)
class Studies:
    """The outcomes of studies; one element per study.

    `blocks`: after how many it ended; `state`: its state then, a number in STATES; `low` and `high`
    bound the mean log ratio then; `claim`: -1 faster, 1 slower, 0 neither, as in the report;
    `missed_ever`: whether an interval at any block up to the last would have missed the truth.
    """

    blocks: NDArray[np.int64]
    state: NDArray[np.int8]
    low: Floats
    high: Floats
    claim: NDArray[np.int8]
    missed_ever: NDArray[np.bool_]


def run_studies(
    rule: Rule, log_ratios: Floats, repetitions_min: int, truth: float = 0.0
) -> Studies:
    """Decide simulated studies of one comparison; `log_ratios` is studies x repetitions.

    `truth`: the true mean log ratio.
    """
    studies, end = log_ratios.shape
    sums, squares = log_ratios.cumsum(axis=1), ((log_ratios - truth) ** 2).cumsum(axis=1)
    blocks, state = np.full(studies, end), np.zeros(studies, dtype=np.int8)
    low, high = np.full((2, studies), np.nan)
    claim = np.zeros(studies, dtype=np.int8)
    missed, running = np.zeros(studies, dtype=bool), np.arange(studies)
    for n in [*interim_repetitions(repetitions_min, end), end]:
        values = sums[:, n - 1] / n
        variances = (squares[:, n - 1] - n * (values - truth) ** 2) / (n - 1)
        errors = np.sqrt(np.maximum(variances, 0.0) / n)
        reach = rule.reaches(n)[0] * errors
        missed |= np.abs(values - truth) > reach
        medians = np.median(log_ratios[running, :n], axis=1)
        found = decide(rule, n, end, values[running], errors[running], medians)
        signs = np.sign(values[running])
        decided = (found == CLEAR_SIGN) | (found == SMALL)
        over = (found != OPEN) | (n == end)
        ended = running[over]
        blocks[ended], state[ended] = n, found[over]
        low[ended], high[ended] = (values - reach)[ended], (values + reach)[ended]
        claim[ended] = np.where(decided, signs, 0)[over]
        running = running[~over]
    return Studies(blocks, state, low, high, claim, missed)
