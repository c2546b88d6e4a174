"""Rare slow loads: how many loads of each stack are far above the stack's median.

A mean of few loads may include none of them, and no interval reflects loads that were not made: so
they are counted, and the counts compared exactly.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from eyelevel.analysis.stats.binomial import binomial_interval
from eyelevel.analysis.stats.estimate import CONFIDENCE, Estimate, Floats, undetermined
from eyelevel.analysis.stats.paired import counts_differ_p

SLOW_TIMES = 1.5
"""The multiple of the stack's own median on a site above which a load is slow."""


@dataclass(frozen=True)
class SlowLoads:
    """The share of slow loads of a stack and of its reference, out of `pairs` blocks.

    The shares' intervals are Clopper and Pearson's and take loads as independent. `p` is that of no
    difference: exact, by changing the sign of each repetition's difference of counts; for one site
    it is McNemar's. None if no repetition differs.
    """

    share: Estimate
    share_reference: Estimate
    pairs: int
    p: float | None


def slow_loads(values: ArrayLike, reference: ArrayLike) -> SlowLoads:
    """Return both shares and their test; arguments as in `eyelevel.analysis.stats.paired_gains`.

    Each stack has its own median: a stack that is a third slower throughout does not have more rare
    slow loads for that reason. A timeout is slow. Undetermined if half of a stack's loads of a site
    timed out, as there is no usual load.
    """
    x, r = (np.atleast_2d(np.asarray(runs, dtype=float)) for runs in (values, reference))
    there = ~(np.isnan(x) | np.isnan(r))
    pairs = int(there.sum())
    if not there.any(axis=1).all():
        return _unknown("no complete block is left", pairs)
    medians = [np.nanmedian(np.where(there, runs, np.nan), axis=1) for runs in (x, r)]
    if np.isinf(medians).any():
        return _unknown("half of a site's loads timed out", pairs)
    slow, slow_reference = (
        there & (runs > SLOW_TIMES * median[:, None])
        for runs, median in zip((x, r), medians, strict=True)
    )
    p = counts_differ_p(slow, slow_reference)
    return SlowLoads(_share(slow, pairs), _share(slow_reference, pairs), pairs, p)


def loads_to_see(share: float, confidence: float = CONFIDENCE) -> int:
    """Return how many independent loads include one of a tail of this share, with `confidence`."""
    return math.ceil(math.log(1 - confidence) / math.log(1 - share))


def _share(slow: Floats, pairs: int) -> Estimate:
    count = int(slow.sum())
    return Estimate(count / pairs, *binomial_interval(count, pairs, CONFIDENCE), n=pairs)


def _unknown(reason: str, pairs: int) -> SlowLoads:
    return SlowLoads(undetermined(reason, pairs), undetermined(reason, pairs), pairs, None)
