"""Compute one run's gain with an interval of any confidence, for gates and comparisons of runs."""

import math
from dataclasses import replace

import numpy as np
import scipy
from numpy.typing import ArrayLike

from eyelevel.analysis.stats.censoring.timeouts import Timeouts, timeouts, up_to_limit
from eyelevel.analysis.stats.estimate import CONFIDENCE, Estimate, undetermined
from eyelevel.analysis.stats.paired_gains import as_gain, paired_loads, repetition_values
from eyelevel.analysis.stats.pooled import Pool, pooled_log_gain
from eyelevel.analysis.stats.quantile import BLOCKS_COUNTED_MAX, DECIDING_POWER
from eyelevel.analysis.stats.sequential import Horizon, confidence_sequence

Loads = tuple[ArrayLike, ArrayLike, ArrayLike]
"""The values and the reference's of one run, as in `eyelevel.analysis.stats.paired_gains`, and the
limit that a timeout stands for, by site."""


def bounded_gain(
    loads: Loads,
    confidence: float = CONFIDENCE,
    horizon: Horizon | None = None,
    pool: Pool | None = None,
) -> tuple[Estimate, Timeouts]:
    """Return the gain of a report with bounds of this confidence, and the timeouts.

    Student's t, as `eyelevel.analysis.stats.pooled.pooled_gain`. With the `horizon` of a study that
    may stop early, each bound is a one-sided confidence sequence that holds with `confidence`
    alone: the truth lies on one side of a limit, so that only one of the two can be wrong. With too
    many timeouts for a mean, the gain in which they count as their limit is still a bound of the
    true one if only one stack timed out: the other bound is then infinite (or -1). `standard_error`
    is the logarithm's.
    """
    late = timeouts(*loads)
    if late.bound == "either way" and late.too_many:
        return undetermined(late.too_many, late.pairs), late
    gain = as_gain(bounded_log_gain(loads, confidence, horizon, pool, one_sided=True))
    if not late.too_many or not gain.determined:
        return gain, late
    if late.bound == "at least":
        return replace(gain, high=math.inf), late
    return replace(gain, low=-1.0), late


def bounded_log_gain(
    loads: Loads,
    confidence: float,
    horizon: Horizon | None = None,
    pool: Pool | None = None,
    *,
    one_sided: bool = False,
) -> Estimate:
    """Return the gain as a mean log ratio, also with timeouts; `one_sided` needs a `horizon`."""
    values, reference = (np.atleast_2d(up_to_limit(runs, loads[2])) for runs in loads[:2])
    on_log = pooled_log_gain(values, reference, pool, confidence)
    if horizon is None or on_log.value is None:
        return on_log
    x, r = paired_loads(values, reference)
    ratios = np.log(x) - np.log(r)
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
