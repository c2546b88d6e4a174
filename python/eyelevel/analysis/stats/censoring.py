"""Loads that came late or never, for which means and medians are of little use.

Timeouts as censored values: the restricted mean, and the log-rank test.

Timeouts: how many loads of each stack did not finish, and how a mean counts them.

A load that timed out took at least as long as its limit, so a mean counts it as the limit: leaving
it out would favour the stack that timed out. If only the loads of one stack timed out, the mean is
a bound, and the true one is at least as large.

Rare slow loads: how many loads of each stack are far above the stack's median.

A mean of few loads may include none of them, and no interval reflects loads that were not made: so
they are counted, and the counts compared exactly.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from eyelevel.analysis.stats.binomial import binomial_interval
from eyelevel.analysis.stats.estimate import (
    CONFIDENCE,
    Estimate,
    Floats,
    as_pairs,
    t_estimate,
    undetermined,
)
from eyelevel.analysis.stats.hypothesis import (
    DifferenceTest,
    as_groups,
    test_result,
    why_untestable,
)
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

    Their mean is the restricted mean (`eyelevel.analysis.stats.censoring`). An infinite
    limit, as of a metric that is not a time, leaves a timeout infinite.
    """
    bounds = np.asarray(limits, dtype=float)
    limited: Floats = np.minimum(np.asarray(values, dtype=float), bounds[..., None])
    return limited


def restricted_mean_difference(
    values: ArrayLike, reference: ArrayLike, limit: float, confidence: float = CONFIDENCE
) -> Estimate:
    """Return the difference of the mean times up to `limit`: values - reference, over blocks.

    It is in their unit. The restricted mean E[min(T, limit)] (Irwin 1949; Royston and Parmar, BMC
    Med. Res. Methodology 13, 2013) is what a study with timeouts at `limit` (infinities here) can
    estimate without guessing: since every load is observed to the limit, it is the plain mean of
    min(T, limit). It understates how much slower a stack that times out is. Student's t over pairs:
    assumes independent pairs, and enough of them for a mean of bounded values to be about normal.
    """
    x, r = as_pairs(values, reference)
    differences = np.minimum(x, limit) - np.minimum(r, limit)
    n = len(differences)
    if n == 0:
        return undetermined("no complete block is left")
    value = float(differences.mean())
    if n < 2 or np.ptp(differences) == 0:
        return undetermined("the differences show no spread", n, value)
    error = float(differences.std(ddof=1)) / math.sqrt(n)
    return t_estimate(value, error, n - 1, n, confidence)


def log_rank(values: ArrayLike, reference: ArrayLike, limit: float) -> DifferenceTest:
    """Return the test of equal distributions of load times, with timeouts censored at `limit`.

    Mantel's test (1966); assumes independent runs and censoring that does not depend on the time,
    as with a fixed limit; most powerful if hazards are proportional. It does not use that runs come
    in pairs. R: `survival::survdiff(Surv(time, ended) ~ stack)`.
    """
    x, r = as_groups([values, reference])
    if reason := why_untestable([x, r], means=False):
        return DifferenceTest(reason=reason)
    if np.isinf(x).all() and np.isinf(r).all():
        return DifferenceTest(reason="no load ended within the limit")
    test = scipy.stats.logrank(_mark_censored(x, limit), _mark_censored(r, limit))
    return test_result(float(test.statistic), float(test.pvalue))


def _mark_censored(values: Floats, limit: float) -> "scipy.stats.CensoredData":
    late = np.isinf(values)
    return scipy.stats.CensoredData.right_censored(np.where(late, limit, values), late)


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
        return _withhold_slow_loads("no complete block is left", pairs)
    medians = [np.nanmedian(np.where(there, runs, np.nan), axis=1) for runs in (x, r)]
    if np.isinf(medians).any():
        return _withhold_slow_loads("half of a site's loads timed out", pairs)
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


def _withhold_slow_loads(reason: str, pairs: int) -> SlowLoads:
    return SlowLoads(undetermined(reason, pairs), undetermined(reason, pairs), pairs, None)
