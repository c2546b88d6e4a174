"""When a comparison of a study that may stop early is decided, for many studies at once.

A comparison's values are logarithms of ratios, one a repetition; its interval is the confidence
sequence of their mean (`eyelevel.stats.sequential`), which holds at any stopping time. So this rule
cannot make the interval wrong, whatever it is: it chooses what a study's time is spent on. What a
study does and what simulations and predictions say of it is this one function.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from eyelevel.stats.estimate import Floats
from eyelevel.stats.sequential import reach_in_errors

State = Literal[
    "open",
    "clear sign",
    "narrow enough",
    "no difference that matters",
    "futile",
    "loads unfinished",
]
STATES: tuple[State, ...] = (
    "open",
    "clear sign",
    "narrow enough",
    "no difference that matters",
    "futile",
    "loads unfinished",
)
OPEN, CLEAR_SIGN, NARROW, ALIKE, FUTILE, UNFINISHED = range(len(STATES))
"""The last one is decided by how many loads did not finish, and not by `decide`."""

FUTILE_WIDTH_RATIO = 1.5  # the spread seen so far is itself uncertain: a smaller excess may vanish
FUTILE_CHANCE = 0.02
"""Below it an outcome is out of reach. Of the studies that would find a difference it costs one in
a hundred, and a study of equal stacks ends after half of its blocks or fewer (the table in
docs/decisions/statistics.md)."""

LOOKS_APART = 100
"""From so many repetitions on they are looked at after each further hundredth: a look takes as long
as there are loads, so that a study of any length spends the same share of its time on looks."""


@dataclass(frozen=True)
class Rule:
    """When one comparison is decided; widths and effects are shares of the reference.

    `significance_level`: this comparison's part of the family's.
    """

    width_max: float
    smallest_effect: float
    significance_level: float
    clear_sign: bool = True
    futility: bool = True


def looks(repetitions_min: int, repetitions: int) -> list[int]:
    """The repetitions after which a study of so many is looked at; after the last it is over."""
    return [
        repetition
        for repetition in range(repetitions_min, repetitions)
        if repetition % math.ceil(repetition / LOOKS_APART) == 0
    ]


def decide(
    rule: Rule, n: int, n_end: int, values: Floats, errors: Floats, medians: Floats
) -> NDArray[np.int8]:
    """The state of each comparison, a number in STATES, after `n` repetitions out of `n_end`.

    `values` and `errors` are the means of its log ratios and their standard errors, `medians` their
    medians. In the order in which they count: its interval lies within the smallest effect; its
    sign is clear, since the interval is no wider than the estimate (so that it excludes 0) and the
    median agrees; it is narrow enough; or it is futile, since none of the three is to be expected
    by the end. Not-a-number and no error are open.
    """
    reach = reach_in_errors(n, rule.significance_level) * np.where(errors > 0, errors, np.nan)
    low, high = np.expm1(values - reach), np.expm1(values + reach)
    width = high - low
    alike = (-rule.smallest_effect < low) & (high < rule.smallest_effect)
    sign = (width <= np.abs(np.expm1(values))) & (values * medians > 0) & rule.clear_sign
    futile = _futile(rule, n, n_end, values, errors, width) & rule.futility
    outcomes = [(alike, ALIKE), (sign, CLEAR_SIGN), (width <= rule.width_max, NARROW)]
    conditions = [condition for condition, _ in outcomes]
    states = [state for _, state in outcomes]
    return np.select([*conditions, futile], [*states, FUTILE], OPEN).astype(np.int8)


def width_at(width: Floats | float, n: int, n_end: int, significance_level: float) -> Floats:
    """The `width` after `n` repetitions as it will be after `n_end` with the spread seen so far."""
    now, then = (reach_in_errors(k, significance_level) / math.sqrt(k) for k in (n, n_end))
    return np.asarray(width) * (then / now if math.isfinite(now) else math.inf)


def _futile(
    rule: Rule, n: int, n_end: int, values: Floats, errors: Floats, width: Floats
) -> NDArray[np.bool_]:
    """Whether neither width, sign nor likeness is to be expected by the end.

    The mean at the end is predicted from the values so far: Student's t about their mean, whose
    variance is that of what is still to come (Spiegelhalter, Freedman and Blackburn, Controlled
    Clinical Trials 7, 1986).
    """
    if n_end <= n or math.isinf(reach_in_errors(n, rule.significance_level)):
        return np.zeros(np.shape(values), dtype=bool)
    wide = width_at(width, n, n_end, rule.significance_level) > FUTILE_WIDTH_RATIO * rule.width_max
    deviation = errors * math.sqrt(n)
    reach = reach_in_errors(n_end, rule.significance_level) * deviation / math.sqrt(n_end)
    error = deviation * math.sqrt(1 / n - 1 / n_end)

    def below(bound: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            chance: Floats = scipy.special.stdtr(n - 1, (bound - values) / error)
        return chance

    sign = below(-reach) + 1 - below(reach)
    effect = math.log1p(-rule.smallest_effect), math.log1p(rule.smallest_effect)
    alike = below(effect[1] - reach) - below(effect[0] + reach)
    unlikely: NDArray[np.bool_] = wide & (sign < FUTILE_CHANCE) & (alike < FUTILE_CHANCE)
    return unlikely


@dataclass(frozen=True)
class Studies:
    """How studies ended; one element a study.

    `blocks`: after how many; `state`: how it stood then, a number in STATES; `low` and `high` bound
    the mean log ratio there; `claim`: -1 faster, 1 slower, 0 neither is said, as the
    report says it; `missed_ever`: whether an interval up to the last block missed the truth, had
    one gone on.
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
    """Studies of one comparison by the rule; `log_ratios` has a row a study, a column a repetition.

    `truth`: the mean log ratio that is to be estimated.
    """
    studies, end = log_ratios.shape
    sums, squares = log_ratios.cumsum(axis=1), ((log_ratios - truth) ** 2).cumsum(axis=1)
    blocks, state = np.full(studies, end), np.zeros(studies, dtype=np.int8)
    low, high = np.full((2, studies), np.nan)
    claim = np.zeros(studies, dtype=np.int8)
    missed, running = np.zeros(studies, dtype=bool), np.arange(studies)
    for n in [*looks(repetitions_min, end), end]:
        values = sums[:, n - 1] / n
        variances = (squares[:, n - 1] - n * (values - truth) ** 2) / (n - 1)
        errors = np.sqrt(np.maximum(variances, 0.0) / n)
        reach = reach_in_errors(n, rule.significance_level) * errors
        missed |= np.abs(values - truth) > reach
        medians = np.median(log_ratios[running, :n], axis=1)
        found = decide(rule, n, end, values[running], errors[running], medians)
        signs = np.sign(values[running])
        said = (np.abs(values) > reach)[running] & (found != ALIKE) & (signs * medians > 0)
        over = (found != OPEN) | (n == end)
        ended = running[over]
        blocks[ended], state[ended] = n, found[over]
        low[ended], high[ended] = (values - reach)[ended], (values + reach)[ended]
        claim[ended] = np.where(said, signs, 0)[over]
        running = running[~over]
    return Studies(blocks, state, low, high, claim, missed)
