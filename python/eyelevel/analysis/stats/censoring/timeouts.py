"""Timeouts: how many loads of each stack did not finish, and how a mean counts them.

A load that timed out took at least as long as its limit, so a mean counts it as the limit: leaving
it out would favour the stack that timed out. If only the loads of one stack timed out, the mean is
a bound, and the true one is at least as large.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from eyelevel.analysis.stats.estimate import Floats
from eyelevel.analysis.stats.paired import counts_differ_p

SIGN_PRIOR = 0.05
"""The prior of the sign test. With it, nine repetitions that all point one way reach p = 0.005;
with 0.5 it takes ten, and with 1/1000, eight and never a sign against it
(`benchmarks.statistics.lost_objects`)."""

SHARE_MAX = 0.2
"""The largest share of timeouts with a mean ratio; with more it would depend more on the limit than
on the loads. A fifth of one stack's loads, at a limit twice as long, makes it larger by 2^0.2,
which is 15 %."""

Bound = Literal["", "at least", "at most", "either way"]


@dataclass(frozen=True)
class Timeouts:
    """The timeouts of a stack and of its reference, out of `pairs` blocks.

    `p` is that of no difference: exact, by changing the sign of each repetition's difference of
    counts; for one site it is McNemar's. `p_least` is the smallest p that as many differences can
    give. In a study that may stop early p is anytime-valid (`sign_sequence_p`). None if no
    repetition differs. The limits are in the unit of the values; sites may differ.
    """

    count: int
    count_reference: int
    pairs: int
    limit_min: float
    limit_max: float
    p: float | None
    p_least: float | None = None

    @property
    def any(self) -> bool:
        """Whether any load timed out."""
        return bool(self.count or self.count_reference)

    @property
    def bound(self) -> Bound:
        """The side of the mean, with timeouts counted as the limit, on which the true mean lies."""
        if self.count and self.count_reference:
            return "either way"
        return "at least" if self.count else "at most" if self.count_reference else ""

    @property
    def too_many(self) -> str:
        """Why there is no mean ratio; empty if there is one. A single timeout is never too many."""
        return too_many(max(self.count, self.count_reference), self.pairs)


def too_many(count: int, loads: int) -> str:
    """Return why this many timeouts of a stack's loads leave no mean ratio; empty if they do."""
    if count < 2 or count <= SHARE_MAX * loads:
        return ""
    return f"{count} of {loads} loads did not finish: a mean would say what the limit is"


def timeouts(values: ArrayLike, reference: ArrayLike, limits: ArrayLike) -> Timeouts:
    """Return both counts and their test; arrays as in `eyelevel.analysis.stats.paired_gains`."""
    return _count(values, reference, limits, counts_differ_p)


def timeouts_so_far(values: ArrayLike, reference: ArrayLike, limits: ArrayLike) -> Timeouts:
    """Return `timeouts` for a study that may stop early: p is valid at any interim analysis."""
    return _count(values, reference, limits, _sequential_p)


def _count(
    values: ArrayLike,
    reference: ArrayLike,
    limits: ArrayLike,
    test: Callable[[NDArray[np.bool_], NDArray[np.bool_]], float | None],
) -> Timeouts:
    x, r = (np.atleast_2d(np.asarray(runs, dtype=float)) for runs in (values, reference))
    there = ~(np.isnan(x) | np.isnan(r))
    late, late_reference = (there & np.isinf(runs) for runs in (x, r))
    bounds = np.asarray(limits, dtype=float)
    differing = int((late.sum(axis=0) != late_reference.sum(axis=0)).sum())
    return Timeouts(
        int(late.sum()),
        int(late_reference.sum()),
        int(there.sum()),
        float(bounds.min(initial=math.inf)),
        float(bounds.max(initial=0.0)),
        test(late, late_reference),
        2.0 ** (1 - differing) if differing else None,
    )


def _sequential_p(late: NDArray[np.bool_], reference: NDArray[np.bool_]) -> float | None:
    more = late.sum(axis=0) - reference.sum(axis=0)
    return sign_sequence_p(int((more > 0).sum()), int((more < 0).sum())) if more.any() else None


def sign_sequence_p(positive: int, negative: int, prior: float = SIGN_PRIOR) -> float:
    """Return an anytime-valid p value for signs, against both signs being equally likely.

    1/E with the beta-binomial mixture E = 2^n B(a + k, a + n - k) / B(a, a) of k positive signs out
    of n: a test martingale (Robbins, Annals of Mathematical Statistics 41, 1970), so that the
    chance of ever having p <= alpha is at most alpha, at any number of analyses. `prior` is a: a
    small one expects nearly all signs alike, as if one stack alone leaves loads unfinished.
    """
    n = positive + negative
    log_e = (
        n * math.log(2)
        + scipy.special.betaln(prior + positive, prior + negative)
        - scipy.special.betaln(prior, prior)
    )
    return min(1.0, math.exp(-log_e))


def up_to_limit(values: ArrayLike, limits: ArrayLike) -> Floats:
    """Return min(T, limit), of sites x repetitions with a limit per site or of one site's.

    Their mean is the restricted mean (`eyelevel.analysis.stats.censoring.censored`). An infinite
    limit, as of a metric that is not a time, leaves a timeout infinite.
    """
    bounds = np.asarray(limits, dtype=float)
    limited: Floats = np.minimum(np.asarray(values, dtype=float), bounds[..., None])
    return limited
