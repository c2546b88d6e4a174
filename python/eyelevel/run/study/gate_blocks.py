"""How many blocks a gate needs, so that equal stacks pass it: predicted before the first load."""

import math
from collections.abc import Sequence

import numpy as np

from eyelevel.analysis.gate import family_confidence
from eyelevel.analysis.gate_conditions import Condition, Question, loads_of, questions
from eyelevel.analysis.study import Contents
from eyelevel.plan.plan import Plan
from eyelevel.stats.quantile import DECIDING_POWER, blocks_to_bound
from eyelevel.stats.quantile_gain import (
    blocks_to_decide,
    one_block_error,
    one_block_error_at_most,
    quantile_gain,
)


def gate_blocks(
    conditions: Sequence[Condition], plan: Plan, deviation: float, like: Contents | None = None
) -> int | None:
    """The fewest blocks with which 90 % of runs pass all conditions if the stacks are equal.

    By the loads of an earlier run, where it has those that are asked about, and enough of them;
    else blocks scatter by `deviation`, independently over sites, and every load keeps its budget.
    None if more than 1,000 are needed.
    """
    asked_for = questions(conditions, [network.name for network in plan.networks], plan.sites)
    confidence = family_confidence(len(asked_for))
    power = 1 - (1 - DECIDING_POWER) / len(asked_for)
    needed = [_needed(question, plan, deviation, like, confidence, power) for question in asked_for]
    return None if None in needed else max(count for count in needed if count is not None)


def _needed(
    asked: Question,
    plan: Plan,
    deviation: float,
    like: Contents | None,
    confidence: float,
    power: float,
) -> int | None:
    condition = asked.condition
    names = [name for name in (condition.stack, condition.reference) if name is not None]
    there = like is not None and asked.site in (None, *like.sites)
    loads = [loads_of(asked, name, like) for name in names] if like is not None and there else []
    if condition.reference is None:
        measured = loads[0][~np.isnan(loads[0])] if loads else np.empty(0)
        kept = (measured < condition.limit) == condition.above
        below = float(kept.mean()) if len(measured) else 1.0
        share = condition.quantile if condition.above else 1 - condition.quantile
        return blocks_to_bound(share, below, confidence, power) if below > share else None
    error = one_block_error(deviation, condition.quantile) / math.sqrt(len(plan.sites))
    if loads and loads[0].shape == loads[1].shape and loads[0].size:
        seen = quantile_gain(loads[0], loads[1], condition.quantile)
        error = one_block_error_at_most(seen) or error
    distance = abs(math.log1p(max(condition.limit, -0.999)))
    return blocks_to_decide(error, distance, condition.quantile, confidence, power)
