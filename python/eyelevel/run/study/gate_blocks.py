"""Predict how many blocks a gate needs so that equal stacks pass it, before the first load."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from eyelevel.analysis.decisions import rule_of
from eyelevel.analysis.gate import family_confidence, pool_of
from eyelevel.analysis.gate_conditions import (
    Condition,
    Question,
    loads_of,
    pair_loads,
    questions,
)
from eyelevel.analysis.stats.bounded_gain import blocks_to_part, bounded_gain
from eyelevel.analysis.stats.estimate import Floats
from eyelevel.analysis.stats.quantile import BLOCKS_COUNTED_MAX, DECIDING_POWER, blocks_to_bound
from eyelevel.analysis.stats.quantile_gain import (
    blocks_to_decide,
    one_block_error,
    one_block_error_at_most,
    quantile_gain,
)
from eyelevel.analysis.stats.sequential import reach_in_errors
from eyelevel.analysis.stats.stopping_rule import Rule, Studies, run_studies, two_digits
from eyelevel.analysis.study import StudyResults
from eyelevel.plan.plan import Plan

STUDIES = 1000
SEED = 11


def gate_blocks(
    conditions: Sequence[Condition], plan: Plan, deviation: float, like: StudyResults | None = None
) -> int | None:
    """Return the fewest blocks with which 90 % of runs pass all conditions if the stacks are equal.

    The scatter is that of an earlier run (`like`), if it has the loads of a condition and enough of
    them; for a gain it is its network's pooled error. Else blocks scatter by `deviation`,
    independently over sites, and every load keeps its budget. A study that may stop early ends by
    its own rule, at most after that many blocks, as in synthetic studies. None if more than 1,000
    are needed.
    """
    asked_for = questions(conditions, [network.name for network in plan.networks], plan.sites)
    confidence = family_confidence(len(asked_for))
    power = 1 - (1 - DECIDING_POWER) / len(asked_for)
    needed = [
        _blocks_needed(question, plan, deviation, like, confidence, power) for question in asked_for
    ]
    return None if None in needed else max(count for count in needed if count is not None)


def _blocks_needed(
    asked: Question,
    plan: Plan,
    deviation: float,
    like: StudyResults | None,
    confidence: float,
    power: float,
) -> int | None:
    condition, share = asked.condition, asked.condition.quantile
    if condition.reference is None:
        return _blocks_for_budget(asked, like, confidence, power)
    distance = abs(math.log1p(max(condition.limit, -0.999)))
    error = deviation / math.sqrt(len(plan.sites)) * (one_block_error(1.0, share) if share else 1.0)
    if like is not None and (loads := pair_loads(asked, like))[0].size:
        if share is None:
            seen, _ = bounded_gain(loads, pool=pool_of(asked, like))
        else:
            seen = quantile_gain(*loads[:2], share)
        error = one_block_error_at_most(seen) or error
    if share is not None:
        return blocks_to_decide(error, distance, share, confidence, power)
    if plan.stop:
        return _blocks_if_it_may_stop(plan, error, distance, confidence, power)
    return blocks_to_part(error, distance, confidence, power)


def _blocks_for_budget(
    asked: Question, like: StudyResults | None, confidence: float, power: float
) -> int | None:
    condition, below = asked.condition, 1.0
    assert condition.quantile is not None
    if like is not None and asked.site in like.sites:
        (row,) = loads_of(asked, condition.stack, like)
        measured = row[~np.isnan(row)]
        if len(measured):
            below = float(((measured < condition.limit) == condition.above).mean())
    share = condition.quantile if condition.above else 1 - condition.quantile
    return blocks_to_bound(share, below, confidence, power) if below > share else None


def _blocks_if_it_may_stop(
    plan: Plan, error: float, distance: float, confidence: float, power: float
) -> int | None:
    """Return the blocks for a gain in a study that may stop early; None if too many.

    It is the least number with which enough synthetic studies of equal stacks pass.
    """
    assert plan.stop is not None
    first = plan.stop.blocks_min
    counts = sorted({two_digits(first * 1.05**step) for step in range(120)})
    counts = [count for count in counts if first < count <= BLOCKS_COUNTED_MAX]
    draw = np.random.Generator(np.random.PCG64(SEED))
    noise: Floats = error * draw.standard_normal((STUDIES, BLOCKS_COUNTED_MAX))

    def enough(count: int) -> bool:
        rule = rule_of(replace(plan, blocks=count))
        found = run_studies(rule, noise[:, :count], first)
        passed = gain_below(found, rule, distance, 1 - confidence)
        return bool(passed.mean() >= power)

    place = bisect_left(counts, True, key=enough)
    return counts[place] if place < len(counts) else None


def gain_below(
    found: Studies, rule: Rule, distance: float, significance_level: float
) -> NDArray[np.bool_]:
    """Return whether each study's one-sided bound, where it stopped, is below a log limit."""
    ratios = {
        n: reach_in_errors(n, significance_level, rule.horizon, one_sided=True) / rule.reaches(n)[0]
        for n in np.unique(found.blocks).tolist()
    }
    part = np.array([ratios[n] for n in found.blocks.tolist()])
    with np.errstate(invalid="ignore"):  # an unbounded interval is below nothing
        values, reach = (found.low + found.high) / 2, (found.high - found.low) / 2
        below: NDArray[np.bool_] = values + reach * part < distance
    return below
