"""Games-Howell: which pairs of stacks differ in their means, all pairs being one family."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from eyelevel.stats.difference_test import as_groups, trouble

CONFIDENCE = 0.95


@dataclass(frozen=True)
class PairDifference:
    """mean(first) - mean(second) with its simultaneous interval and p; None with the reason."""

    first: str
    second: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    reason: str = ""


def games_howell(
    groups: Mapping[str, ArrayLike], confidence: float = CONFIDENCE
) -> list[PairDifference]:
    """Every pair of groups, in the order given (Games and Howell, J. Educ. Stat. 1, 1976).

    Assumes runs that are independent and about normal within a group; variances and sizes may
    differ. Intervals and p values hold for all pairs together (studentised range). It does not use
    that runs come in blocks. Undetermined with a timeout or a group without spread.
    R: `rstatix::games_howell_test`.
    """
    names = list(groups)
    found = as_groups(list(groups.values()))
    reason = trouble(found, means=True)
    if not reason and any(np.ptp(group) == 0 for group in found):
        reason = "the runs of a stack show no spread at all"
    if reason:
        return [PairDifference(a, b, reason=reason) for a, b in combinations(names, 2)]
    result = scipy.stats.tukey_hsd(*found, equal_var=False)
    bounds = result.confidence_interval(confidence)
    return [
        PairDifference(
            names[i],
            names[j],
            float(result.statistic[i, j]),
            float(bounds.low[i, j]),
            float(bounds.high[i, j]),
            float(result.pvalue[i, j]),
        )
        for i, j in combinations(range(len(names)), 2)
    ]
