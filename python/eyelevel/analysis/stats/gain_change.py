"""Compute how a gain changed from one run to another: a ratio of ratios, each within its own run.

The loads of two runs share no blocks, so that they differ in machine, time and neighbours as well.
A factor that slows both stacks of a run cancels within that run, and affects no gain.
"""

import math
from dataclasses import dataclass, replace

from eyelevel.analysis.stats.censoring import Timeouts, timeouts
from eyelevel.analysis.stats.estimate import (
    CONFIDENCE,
    Estimate,
    sum_freedom,
    t_estimate,
    undetermined,
)
from eyelevel.analysis.stats.paired_gains import as_gain
from eyelevel.analysis.stats.quantile import DECIDING_POWER
from eyelevel.analysis.stats.quantile_gain import Loads, blocks_to_part, compute_bounded_log_gain
from eyelevel.analysis.stats.sequential import Horizon

Horizons = tuple[Horizon, Horizon] | None


@dataclass(frozen=True)
class GainChange:
    """The gains of two runs, and the change between them; standard errors are the logarithm's."""

    before: Estimate
    now: Estimate
    change: Estimate
    """The relative change: (1 + now) / (1 + before) - 1."""
    confidence: float
    """The confidence of all three intervals."""
    timeouts: tuple[Timeouts, Timeouts]
    """The timeouts of the earlier and the later run; each counts as its limit in the gains."""

    def blocks_to_decide(self, limit: float, power: float = DECIDING_POWER) -> int | None:
        """Return how many blocks in each run separate the change from `limit`, with chance `power`.

        The present estimate is taken as the truth. None without an error, or if more than
        `BLOCKS_COUNTED_MAX` are needed.
        """
        value, errors = self.change.value, (self.before.standard_error, self.now.standard_error)
        if value is None or errors[0] is None or errors[1] is None:
            return None
        one_block_error = math.hypot(
            errors[0] * math.sqrt(self.before.n), errors[1] * math.sqrt(self.now.n)
        )
        distance = abs(math.log1p(value) - math.log1p(limit))
        return blocks_to_part(one_block_error, distance, self.confidence, power, runs=2)


def gain_change(
    before: Loads, now: Loads, confidence: float = CONFIDENCE, horizons: Horizons = None
) -> GainChange:
    """Return the gain of each run (`eyelevel.analysis.stats.paired_gains.geometric_gain`), and its
    change.

    Errors are each run's over its repetitions; Student's t on the logarithm has Welch and
    Satterthwaite's degrees of freedom. Assumes that both stacks change alike from run to run, which
    two runs cannot test. Undetermined if one gain is. R, with every block: `t.test(colMeans(log(x2
    / r2)), colMeans(log(x1 / r1)))`.

    `horizons`: the interim analyses of both runs if one may have stopped early, which no t interval
    allows for. Each then has a confidence sequence at half of the level, and the change lies
    between their bounds.
    """
    late = timeouts(*before), timeouts(*now)
    looks = horizons or (None, None)
    logs = [
        _log_gain(loads, counts, confidence, horizon)
        for loads, counts, horizon in zip((before, now), late, looks, strict=True)
    ]
    change = as_gain(_difference(logs[1], logs[0], confidence))
    return GainChange(as_gain(logs[0]), as_gain(logs[1]), change, confidence, late)


def _log_gain(loads: Loads, late: Timeouts, confidence: float, horizon: Horizon | None) -> Estimate:
    if late.too_many:
        return undetermined(late.too_many, late.pairs)
    if horizon is None:
        return compute_bounded_log_gain(loads, confidence)
    sequence = compute_bounded_log_gain(loads, (1 + confidence) / 2, horizon)
    return replace(sequence, standard_error=None)  # a t interval made from it would not hold


def _difference(now: Estimate, before: Estimate, confidence: float) -> Estimate:
    runs, n = ((before, "the earlier run"), (now, "the later run")), min(now.n, before.n)
    for each, which in runs:
        if each.value is None:
            return undetermined(f"{which}: {each.reason}", n)
    value = (now.value or 0.0) - (before.value or 0.0)
    for each, which in runs:
        if each.low is None:
            return undetermined(f"{which}: {each.reason}", n, value)
    if now.standard_error is None or before.standard_error is None:
        assert now.low is not None and now.high is not None
        assert before.low is not None and before.high is not None
        return Estimate(value, now.low - before.high, now.high - before.low, n=n)
    variances = [each.standard_error**2 for each in (now, before) if each.standard_error]
    freedoms = [each.degrees_of_freedom or 1.0 for each in (now, before)]
    freedom = sum_freedom(variances, freedoms)
    return t_estimate(value, math.sqrt(sum(variances)), freedom, n, confidence)
