"""Drift: whether a repetition's differences resemble those of the preceding one.

All intervals assume independent repetitions. Drift is detectable only if it makes neighbours
similar, and a few repetitions show little of that: `noticed_share` is the power.
"""

import math
from functools import lru_cache
from itertools import permutations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from eyelevel.analysis.stats.estimate import (
    CONFIDENCE,
    SIGNIFICANCE_LEVEL,
    Estimate,
    Floats,
    are_too_few,
    undetermined,
)

REPETITIONS_MIN = 5
"""The fewest repetitions that are tested. Four have twelve orders (each counts with its reverse),
too few for a p value of 0.05."""

EVERY_ORDER_MAX = 6  # repetitions: 720 orders
ORDERS, SEED = 1999, 12

DRIFT_SHARE, DRIFT_LENGTH = 0.3, 5.0
"""The drift to be noticed: its share of one stack's variance, and the repetitions over which it
falls to 1/e. With it, equal stacks are told apart in 13 % of studies of ten blocks, and in 19 % of
thirty or more (`benchmarks.statistics.drift`)."""

STUDIES, STUDIES_MIN, VALUES_MAX = 2000, 100, 2_000_000
"""The number of simulated studies, fewer for many networks. The power is then accurate to a few
points within a second."""
VALUES_AT_ONCE = 500_000


def lag_one(differences: ArrayLike) -> Estimate:
    """Return the lag-1 autocorrelation of differences, pooled over comparisons, with its interval.

    `differences`: comparisons x repetitions in the order of their loads, not-a-number for none.
    Each comparison is divided by its own variance. p is one-sided, against no correlation: the
    share of orders of the repetitions, the same for all comparisons, with at least as much. So it
    is exact whatever comparisons share, and whatever the distribution. The value is corrected for
    its bias, the mean over these orders (about -1/n), and the interval is normal, with their
    deviation; where more than half of a stack's variance drifts, it covers in 84 to 94 %.
    Undetermined below REPETITIONS_MIN.
    """
    d = np.atleast_2d(np.asarray(differences, dtype=float))
    d = d[:, ~np.isnan(d).all(axis=0)]
    n = d.shape[1]
    if n < REPETITIONS_MIN:
        return undetermined(f"{are_too_few(n)} to see a drift in", n)
    z = _standardise(d)
    if not z.size:
        return undetermined("the runs show no spread", n)
    likeness = z.T @ z / np.square(z).sum()
    orders = _orders(n)
    found = likeness[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    value, deviation = float(found[0] - found.mean()), float(found.std())
    # Orders with the same correlation must not count as smaller because of rounding.
    p = float(np.mean(found >= found[0] - 1e-9))
    reach = float(scipy.special.ndtri(0.5 + CONFIDENCE / 2)) * deviation
    low, high = max(-1.0, value - reach), min(1.0, value + reach)
    return Estimate(value, low, high, p, deviation, n=n)


def _standardise(differences: Floats) -> Floats:
    """Return the comparisons that vary, centred and divided by their deviations; 0 if lost."""
    there = ~np.isnan(differences)
    counts = np.maximum(1, there.sum(axis=1, keepdims=True))
    means = np.where(there, differences, 0.0).sum(axis=1, keepdims=True) / counts
    centred = np.where(there, differences - means, 0.0)
    deviations = np.sqrt(np.square(centred).sum(axis=1) / counts[:, 0])
    spread = deviations > 1e-12 * np.abs(means[:, 0]) + 1e-300
    standardised: Floats = centred[spread] / deviations[spread, None]
    return standardised


@lru_cache(maxsize=4)
def _orders(n: int) -> NDArray[np.int64]:
    """Return orders of n repetitions, the original one first: all, or ORDERS random ones."""
    if n <= EVERY_ORDER_MAX:
        return np.array(list(permutations(range(n))))
    draw = np.random.Generator(np.random.PCG64(SEED))
    drawn = draw.permuted(np.tile(np.arange(n), (ORDERS, 1)), axis=1)
    return np.concatenate([np.arange(n)[None], drawn])


@lru_cache(maxsize=16)
def noticed_share(
    repetitions: int, stacks: int, pairs: tuple[tuple[int, int], ...], networks: int
) -> float:
    """Return the share of synthetic studies with p of at most 0.05 if one stack drifts, 0 to 1.

    `pairs`: the positions of the compared stacks; the first stack drifts by DRIFT_SHARE and
    DRIFT_LENGTH on every network, independently. Loads are normal.
    """
    if repetitions < REPETITIONS_MIN:
        return 0.0
    values = networks * stacks * repetitions
    studies = max(STUDIES_MIN, min(STUDIES, VALUES_MAX // values))
    draw = np.random.Generator(np.random.PCG64(SEED))
    shape = (max(1, min(studies, VALUES_AT_ONCE // values)), networks, stacks, repetitions)
    parts = [_autocorrelations(shape, pairs, draw) for _ in range(math.ceil(studies / shape[0]))]
    still, drifting = np.concatenate(parts, axis=1)
    return float(np.mean(drifting > np.quantile(still, 1 - SIGNIFICANCE_LEVEL)))


def _autocorrelations(
    shape: tuple[int, int, int, int], pairs: tuple[tuple[int, int], ...], draw: np.random.Generator
) -> Floats:
    """Return `lag_one`'s test statistic of studies without a drift, and of as many with one."""
    studies, networks, _, repetitions = shape
    loads = draw.standard_normal((2, *shape))
    drifting = loads[1, :, :, pairs[0][0]]
    drifting *= math.sqrt(1 - DRIFT_SHARE)
    drifting += math.sqrt(DRIFT_SHARE) * drift((studies, networks, repetitions), draw)
    own, other = (list(places) for places in zip(*pairs, strict=True))
    differences = loads[:, :, :, own] - loads[:, :, :, other]
    differences -= differences.mean(axis=-1, keepdims=True)
    differences /= differences.std(axis=-1, keepdims=True)
    likeness: Floats = (differences[..., 1:] * differences[..., :-1]).sum(axis=(2, 3, 4))
    return likeness


def drift(shape: tuple[int, ...], draw: np.random.Generator) -> Floats:
    """Return normal values of variance 1 that are autocorrelated along the last axis."""
    likeness = math.exp(-1 / DRIFT_LENGTH)
    values = draw.standard_normal(shape)
    for place in range(1, shape[-1]):
        values[..., place] *= math.sqrt(1 - likeness**2)
        values[..., place] += likeness * values[..., place - 1]
    return values
