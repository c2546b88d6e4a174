"""Cochran's Q: does an event happen more often in one column of a table than in another?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from eyelevel.analysis.stats.estimate import UNDETERMINED

EXACT_STATES_MAX = 50_000  # count vectors in memory at once; with more the permutations are sampled
RESAMPLES = 9_999  # accurate to 0.0043 (two standard errors) at a p value of 0.05


@dataclass(frozen=True)
class RateTest:
    """The p value of equal rates; None with the reason if it cannot be tested."""

    p: float | None
    reason: str = ""


def rates_differ(happened: Sequence[Sequence[bool]], seed: int = 1) -> RateTest:
    """Test over complete blocks (rows) whether an event is as frequent in all stacks (columns).

    Cochran's Q (Biometrika 37, 1950), with two stacks McNemar's test, with its permutation
    distribution: within a block the event is equally likely for each stack. Exact by counting if
    that is feasible, else by 9,999 permutations drawn with the pinned PCG64 bit stream of `seed`.
    Assumes independent blocks. Blocks in which all or none had the event have no information about
    a difference.
    """
    rows = [list(map(bool, row)) for row in happened]
    if not rows or len(rows[0]) < 2:
        return RateTest(None, f"{UNDETERMINED}: fewer than two stacks or no complete block")
    if len({len(row) for row in rows}) != 1:
        raise ValueError("blocks must be complete: every row has one entry a stack")
    columns = len(rows[0])
    informative = [row for row in rows if 0 < sum(row) < columns]
    if not informative:
        return RateTest(None, "no block in which the stacks differ")
    counts = [sum(row[column] for row in informative) for column in range(columns)]
    sizes = [sum(row) for row in informative]
    p = _exact_p(sizes, columns, _spread(counts))
    return RateTest(p if p is not None else _sampled_p(sizes, columns, _spread(counts), seed))


def _spread(counts: Sequence[int]) -> int:
    """Return Cochran's Q as an integer, up to factors that are the same for every permutation."""
    return len(counts) * sum(count**2 for count in counts) - sum(counts) ** 2


def _exact_p(sizes: Sequence[int], columns: int, observed: int) -> float | None:
    states: dict[tuple[int, ...], float] = {(0,) * columns: 1.0}
    for size in sizes:
        chance = 1 / math.comb(columns, size)
        following: dict[tuple[int, ...], float] = {}
        for chosen in combinations(range(columns), size):
            for counts, weight in states.items():
                key = tuple(count + (column in chosen) for column, count in enumerate(counts))
                following[key] = following.get(key, 0.0) + weight * chance
        if len(following) > EXACT_STATES_MAX:
            return None
        states = following
    return min(1.0, sum(w for counts, w in states.items() if _spread(counts) >= observed))


def _sampled_p(sizes: Sequence[int], columns: int, observed: int, seed: int) -> float:
    stream = np.random.PCG64(seed)
    counts = np.zeros((RESAMPLES, columns), dtype=np.int64)
    for size in sizes:
        keys = stream.random_raw(RESAMPLES * columns).reshape(RESAMPLES, columns)
        counts += np.argsort(np.argsort(keys, axis=1), axis=1) < size
    spread = columns * (counts**2).sum(axis=1) - counts.sum(axis=1) ** 2
    return (1 + int((spread >= observed).sum())) / (RESAMPLES + 1)
