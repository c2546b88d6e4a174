"""Timeouts: how many loads of each stack did not come in time, and what a mean takes them for.

A load that timed out took at least as long as its limit, so a mean counts it as the limit: leaving
it out would favour the stack that timed out. If the loads of one stack alone timed out, the mean is
a bound, and the true one is at least as large.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from eyelevel.stats.estimate import Floats
from eyelevel.stats.paired import counts_differ_p

SHARE_MAX = 0.2
"""Above it a mean ratio says more of the limit than of the loads: with a fifth of one stack's loads
at a limit twice as long, it would be larger by 2^0.2, which is 15 %."""

Bound = Literal["", "at least", "at most", "either way"]


@dataclass(frozen=True)
class Timeouts:
    """How many loads of a stack and of its reference timed out, out of `pairs` blocks.

    `p` is that of no difference: exact, by changing the sign of each repetition's difference in
    number; for one site it is McNemar's. None if no repetition differs. The limits are in the unit
    of the values; sites may differ.
    """

    count: int
    count_reference: int
    pairs: int
    limit_min: float
    limit_max: float
    p: float | None

    @property
    def any(self) -> bool:
        """Whether a load timed out."""
        return bool(self.count or self.count_reference)

    @property
    def bound(self) -> Bound:
        """Where the true mean lies from one that counts timeouts as the limit."""
        if self.count and self.count_reference:
            return "either way"
        return "at least" if self.count else "at most" if self.count_reference else ""

    @property
    def too_many(self) -> str:
        """Why there is no mean ratio, if so; one timeout is never too many."""
        return too_many(max(self.count, self.count_reference), self.pairs)


def too_many(count: int, loads: int) -> str:
    """Why so many timeouts of a stack's loads leave no mean ratio, if so."""
    if count < 2 or count <= SHARE_MAX * loads:
        return ""
    return f"{count} of {loads} loads timed out: a mean would say what the limit is"


def timeouts(values: ArrayLike, reference: ArrayLike, limits: ArrayLike) -> Timeouts:
    """Both counts and their test; as in `eyelevel.stats.repetitions`, with one limit a site."""
    x, r = (np.atleast_2d(np.asarray(runs, dtype=float)) for runs in (values, reference))
    there = ~(np.isnan(x) | np.isnan(r))
    late, late_reference = (there & np.isinf(runs) for runs in (x, r))
    bounds = np.asarray(limits, dtype=float)
    return Timeouts(
        int(late.sum()),
        int(late_reference.sum()),
        int(there.sum()),
        float(bounds.min(initial=math.inf)),
        float(bounds.max(initial=0.0)),
        counts_differ_p(late, late_reference),
    )


def up_to_limit(values: ArrayLike, limits: ArrayLike) -> Floats:
    """min(T, limit) of sites x repetitions with one limit a site, or of one site's repetitions.

    Their mean is the restricted mean (`eyelevel.stats.late.censored`). An infinite limit, as of
    a metric that is no time, leaves a timeout infinite.
    """
    bounds = np.asarray(limits, dtype=float)
    limited: Floats = np.minimum(np.asarray(values, dtype=float), bounds[..., None])
    return limited
