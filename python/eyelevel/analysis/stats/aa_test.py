"""The A/A test: one stack under two names, to measure the report's rate of false claims.

Within each repetition the two names are swapped at random, on all sites alike, so that they differ
by chance alone, including disturbances of a stack for a whole repetition. The p values of the
procedure must then be uniform, and its families reject in 5 % of cases.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy

from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL, Floats
from eyelevel.analysis.stats.families import holm
from eyelevel.analysis.stats.paired_gains import geometric_gain

REJECTED_SHARE_MAX = 0.064
"""The largest plausible share of rejections among 1000 permutations: 5 % plus two standard
errors."""


@dataclass(frozen=True)
class AAResult:
    """The results of the permutations. `p` has the raw p values, permutations x comparisons.

    `rejected_share` is the share of permutations in which the family had any claim after Holm.
    `uniform_p` has for each comparison the p value of Kolmogorov and Smirnov's test that its raw p
    values are uniform; a value below 0.01 shows that they are not. Of many comparisons one in a
    hundred is below 0.01 by chance.
    """

    p: Floats
    rejected_share: float
    uniform_p: tuple[float, ...]


def p_values(pairs: Mapping[str, Floats]) -> list[float | None]:
    """Return the raw p value of each comparison, computed as in a report.

    `pairs`: the values by comparison (such as a network), sites x repetitions x 2, the reference's
    first; not-a-number without a load.
    """
    return [geometric_gain(values[..., 1], values[..., 0]).p for values in pairs.values()]


def swap_names(
    pairs: Mapping[str, Floats], permutations: int, draw: np.random.Generator
) -> AAResult:
    """Test one family, the comparisons of one metric. Raises ValueError if a p value is missing."""
    rows = []
    for _ in range(permutations):
        swapped = {name: _swap(values, draw) for name, values in pairs.items()}
        rows.append(p_values(swapped))
    if any(p is None for row in rows for p in row):
        raise ValueError("a comparison has no p value: a load timed out, or there is no spread")
    p = np.array(rows, dtype=float)
    claims = [min(p for p in holm(row) if p is not None) <= SIGNIFICANCE_LEVEL for row in rows]
    uniform = tuple(float(scipy.stats.kstest(column, "uniform").pvalue) for column in p.T)
    return AAResult(p, float(np.mean(claims)), uniform)


def _swap(values: Floats, draw: np.random.Generator) -> Floats:
    swapped = draw.integers(0, 2, (values.shape[1], 1)) == 1
    return np.where(swapped, values[..., ::-1], values)
