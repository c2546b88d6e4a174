"""Differences within blocks: the Hodges-Lehmann estimate and medians, timeouts included.

A timeout is a run slower than the limit. As infinity it has its right place in medians and ranks.
"""

import math
from functools import cache, lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from eyelevel.analysis.stats.estimate import (
    CONFIDENCE,
    Estimate,
    Floats,
    are_too_few,
    as_pairs,
    undetermined,
)

PAIRS_MAX = 2000  # two million Walsh averages; more pairs need no exact ranks
EXACT_PAIRS_MAX = 60  # above it the normal approximation is off by less than a rank


def median(values: ArrayLike) -> float | None:
    """Return the median, infinite if half of the runs timed out; None without a run."""
    x = np.sort(np.asarray(values, dtype=float))
    if len(x) == 0:
        return None
    low, high = float(x[(len(x) - 1) // 2]), float(x[len(x) // 2])
    return low if low == high else (low + high) / 2


def median_estimate(differences: ArrayLike, units: str, confidence: float = CONFIDENCE) -> Estimate:
    """Return the median of independent differences, whatever their distribution.

    `units` names them in messages. The interval is between two order statistics, and p is the exact
    sign test's, of those that are not 0 (Hollander and Wolfe, Nonparametric Statistical Methods,
    3.4 to 3.6; R: `sort(d)[qbinom(0.025, n, 0.5)]`, `binom.test(sum(d < 0), sum(d != 0))`). Fewer
    than six have no 95 % interval. There must be at least one.
    """
    d = np.sort(np.asarray(differences, dtype=float))
    n = len(d)
    value = median(d)
    rank = int(scipy.stats.binom.ppf((1 - confidence) / 2, n, 0.5))
    if rank == 0:
        return undetermined(
            f"{are_too_few(n, units.removesuffix('s'))} for a {confidence:.0%} interval", n, value
        )
    fewer = min(int((d < 0).sum()), int((d > 0).sum()))
    p = min(1.0, 2 * float(scipy.stats.binom.cdf(fewer, int((d != 0).sum()), 0.5)))
    return Estimate(value, float(d[rank - 1]), float(d[-rank]), p, n=n)


def hodges_lehmann(
    values: ArrayLike, reference: ArrayLike, confidence: float = CONFIDENCE
) -> Estimate:
    """Return the pseudo-median of the differences values - reference, in their unit.

    It is the median of all Walsh averages, with the interval and the p value that invert Wilcoxon's
    signed-rank test (Hollander and Wolfe, Nonparametric Statistical Methods, 3.2 and 3.3; R:
    `wilcox.test(values, reference, paired = TRUE, conf.int = TRUE)`). Assumes differences that are
    independent and symmetric about their centre. With fewer than six pairs no interval reaches 95
    %: it is undetermined.
    """
    x, r = as_pairs(values, reference)
    n = len(x)
    if n == 0:
        return undetermined("no complete block is left")
    if n > PAIRS_MAX:
        return undetermined(f"more than {PAIRS_MAX} pairs", n)
    if (np.isinf(x) & np.isinf(r)).any():
        return undetermined("both loads of a block timed out: their order is unknown", n)
    if np.isinf(x).any() and np.isinf(r).any():
        return undetermined("loads of both stacks timed out: how far apart is unknown", n)
    averages = _walsh_averages(x - r)
    value = median(averages)
    if value is None or math.isinf(value):
        return undetermined("too many loads timed out", n)
    rank = _lower_rank(n, confidence)
    if rank == 0:
        return undetermined(f"{are_too_few(n)} for a {confidence:.0%} interval", n, value)
    low, high = float(averages[rank - 1]), float(averages[len(averages) - rank])
    return Estimate(value, low, high, _signed_rank_p(x - r), n=n)


def _walsh_averages(differences: Floats) -> Floats:
    first, second = _pairs(len(differences))
    return np.sort((differences[first] + differences[second]) / 2)


@lru_cache(maxsize=8)  # an entry of 2,000 pairs has 32 MB
def _pairs(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(n)


@cache
def _lower_rank(n: int, confidence: float) -> int:
    """Return the rank (from 1) of the Walsh average that bounds the interval; 0 if none does."""
    tail = (1 - confidence) / 2
    if n <= EXACT_PAIRS_MAX:
        cumulated = np.cumsum(_signed_sum_distribution(tuple(range(1, n + 1))))
        return int(np.searchsorted(cumulated, tail, side="right"))
    mean, deviation = n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return max(0, math.floor(mean + float(scipy.stats.norm.ppf(tail)) * deviation))


@lru_cache(maxsize=1024)  # one per number of pairs without ties, several with ties
def _signed_sum_distribution(weights: tuple[int, ...]) -> Floats:
    """Return the probability of each sum, from 0 on, if each weight is included with chance 1/2."""
    chance = np.zeros(sum(weights) + 1)
    chance[0] = 1.0
    for weight in weights:
        shifted = np.zeros_like(chance)
        shifted[weight:] = chance[: len(chance) - weight]
        chance = (chance + shifted) / 2
    return chance


def _signed_rank_p(differences: Floats) -> float | None:
    nonzero = differences[differences != 0]
    if len(nonzero) == 0:
        return None
    # Infinite differences have the largest ranks: any larger number gives the same.
    finite = nonzero[np.isfinite(nonzero)]
    largest = 2 * float(np.abs(finite).max()) + 1 if len(finite) else 1.0
    ranked = np.where(np.isinf(nonzero), np.sign(nonzero) * largest, nonzero)
    if len(ranked) > EXACT_PAIRS_MAX:
        return float(scipy.stats.wilcoxon(ranked, method="approx").pvalue)
    _, place, tied = np.unique(np.abs(ranked), return_inverse=True, return_counts=True)
    # Doubled, since tied differences may share a rank of a half; exact given the ties.
    weights = (2 * tied.cumsum() - tied + 1)[place]
    return sign_flip_p(np.where(ranked > 0, weights, -weights))


def sign_flip_p(differences: NDArray[np.int_]) -> float:
    """Return the exact two-sided p value of integer differences, against random signs.

    None of them is 0. Fisher, The Design of Experiments, 1935, section 21.
    """
    weights = np.abs(differences)
    positive = int(weights[differences > 0].sum())
    smaller = min(positive, int(weights.sum()) - positive)
    chance = _signed_sum_distribution(tuple(sorted(weights.tolist())))
    return min(1.0, 2 * float(chance[: smaller + 1].sum()))


def counts_differ_p(events: NDArray[np.bool_], reference: NDArray[np.bool_]) -> float | None:
    """Return p for two stacks' numbers of events by repetition; sites x repetitions.

    None if no repetition differs. Signs are those of repetitions and not of blocks: a disturbance
    of a stack on many sites of one repetition is one event.
    """
    more = events.sum(axis=0) - reference.sum(axis=0)
    return sign_flip_p(more[more != 0]) if more.any() else None
