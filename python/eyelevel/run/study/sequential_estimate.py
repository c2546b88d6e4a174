"""Predict by synthetic studies the sensitivity and length of a study that may stop early."""

import math
from dataclasses import dataclass

import numpy as np

from eyelevel.analysis.decisions import rule_of
from eyelevel.analysis.stats.estimate import POWER, Floats
from eyelevel.analysis.stats.stopping_rule import Studies, run_studies
from eyelevel.plan.plan import Plan

STUDIES = 1000
VALUES_MAX = 100_000
"""The most values in all synthetic studies together: long plans get fewer studies, so that an
estimate takes seconds."""
SEED = 4
STEPS = 12
"""The bisection steps; they find the effect to a four-thousandth of the range."""


@dataclass(frozen=True)
class SequentialEstimate:
    """The effect that a study finds, and the blocks that it takes.

    `effect`: the share by which a stack is faster if POWER of studies find it; None if there is no
    such effect. The median study of one comparison ends after `blocks_effect` with that effect,
    after `blocks_equal` with none.
    """

    effect: float | None
    blocks_effect: int | None
    blocks_equal: int


def sequential_estimate(plan: Plan, deviation: float) -> SequentialEstimate:
    """Simulate studies by the plan's own rule.

    `deviation`: the standard deviation of a repetition's mean log ratio. An effect is found if the
    report calls it faster, at a stop or at the last block. Repetitions are taken as independent and
    normal.
    """
    assert plan.stop is not None
    rule, blocks_min = rule_of(plan), plan.stop.blocks_min
    studies = max(100, min(STUDIES, VALUES_MAX // plan.blocks))
    draw = np.random.Generator(np.random.PCG64(SEED))
    noise: Floats = deviation * draw.standard_normal((studies, plan.blocks))

    def run(effect: float) -> Studies:
        return run_studies(rule, noise - effect, blocks_min)

    def found(effect: float) -> bool:
        return bool((run(effect).claim < 0).mean() >= POWER)

    equal = int(np.median(run(0.0).blocks))
    reach, _ = rule.reaches(plan.blocks)
    # More than the last interval plus the smallest effect, below which a gain is called alike.
    high = 2 * (reach + 1) * deviation / math.sqrt(plan.blocks)
    high -= math.log1p(-rule.smallest_effect)
    if math.isinf(reach) or not found(high):
        return SequentialEstimate(None, None, equal)
    low = 0.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return SequentialEstimate(-math.expm1(-high), int(np.median(run(high).blocks)), equal)
