"""One stack under two names: how often the report's procedure would call a difference.

Within each block the two names are swapped at random, so that nothing but luck tells them apart;
the p values of the procedure must then be uniform, and its families reject in 5 % of cases.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from eyelevel.stats.families import holm
from eyelevel.stats.gain import mean_gain, performance_gain

Floats = NDArray[np.float64]

LEVEL = 0.05
REJECTED_SHARE_MAX = 0.064
"""For 1000 permutations: 5 % and two standard errors of a share."""


@dataclass(frozen=True)
class Swapped:
    """What the permutations gave. `p`: permutations x comparisons, the raw p values.

    `rejected_share`: of the permutations in which the family had any claim after Holm.
    `uniform_p`: of each comparison, of Kolmogorov and Smirnov's test that its raw p values are
    uniform; a value below 0.01 says that they are not. Of many comparisons one in a hundred is
    below 0.01 by luck.
    """

    p: Floats
    rejected_share: float
    uniform_p: tuple[float, ...]


def p_values(pairs: Mapping[str, Sequence[Floats]]) -> list[float | None]:
    """The raw p of each comparison as the report has it. `pairs`: by comparison (a network, say)
    the sites' values, each blocks x 2, the reference's first; NaN where a load has none."""
    found = []
    for sites in pairs.values():
        there = [own[~np.isnan(own).any(axis=1)] for own in sites]
        found.append(mean_gain([performance_gain(own[:, 1], own[:, 0]) for own in there]).p)
    return found


def swap_names(
    pairs: Mapping[str, Sequence[Floats]], permutations: int, draw: np.random.Generator
) -> Swapped:
    """One family: the comparisons of one metric. Raises ValueError where a p value is missing."""
    rows = []
    for _ in range(permutations):
        swapped = {name: [_swap(own, draw) for own in sites] for name, sites in pairs.items()}
        rows.append(p_values(swapped))
    if any(p is None for row in rows for p in row):
        raise ValueError("a comparison has no p value: a load timed out, or there is no spread")
    p = np.array(rows, dtype=float)
    claims = [min(each for each in holm(row) if each is not None) <= LEVEL for row in rows]
    uniform = tuple(float(scipy.stats.kstest(own, "uniform").pvalue) for own in p.T)
    return Swapped(p, float(np.mean(claims)), uniform)


def _swap(own: Floats, draw: np.random.Generator) -> Floats:
    swapped = draw.integers(0, 2, (len(own), 1)) == 1
    return np.where(swapped, own[:, ::-1], own)
