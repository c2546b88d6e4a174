"""Predict by synthetic studies what a study that may stop early can show, and how long it runs."""

import math
from dataclasses import dataclass

import numpy as np

from eyelevel.analysis.decisions import rule_of
from eyelevel.plan.plan import Plan
from eyelevel.stats.estimate import POWER, Floats
from eyelevel.stats.stopping_rule import Studies, run_studies

STUDIES = 1000
VALUES_MAX = 100_000
"""The most values in all synthetic studies together; long plans get fewer studies, so that it takes
seconds."""
SEED = 4
STEPS = 12
"""The bisection steps; they find the effect to a four-thousandth of the range."""


@dataclass(frozen=True)
class SequentialEstimate:
    """`effect`: by how much a stack is faster if POWER of studies find it; None if none is found.

    The median study of one comparison ends after `blocks_effect` if that is the truth, after
    `blocks_equal` if nothing differs.
    """

    effect: float | None
    blocks_effect: int | None
    blocks_equal: int


def sequential_estimate(plan: Plan, deviation: float) -> SequentialEstimate:
    """Simulate studies by the plan's own rule; `deviation`: standard deviation of a repetition's
    mean log ratio.

    Found is an effect that the report calls faster, be it at a stop or at the last block. Assumes
    repetitions that are independent and normal.
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
    # More than the last interval takes, and than is lost to what is too small to matter.
    high = 2 * (reach + 1) * deviation / math.sqrt(plan.blocks)
    high -= math.log1p(-rule.smallest_effect)
    if math.isinf(reach) or not found(high):
        return SequentialEstimate(None, None, equal)
    low = 0.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return SequentialEstimate(-math.expm1(-high), int(np.median(run(high).blocks)), equal)
