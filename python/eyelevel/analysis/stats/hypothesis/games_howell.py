"""Games-Howell: which pairs of stacks differ in their means, all pairs being one family."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from eyelevel.analysis.stats.estimate import CONFIDENCE, Floats, sum_freedom
from eyelevel.analysis.stats.hypothesis.difference import as_groups, why_untestable
from eyelevel.analysis.stats.hypothesis.studentized_range import range_quantile, range_survival


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
    groups: Mapping[str, ArrayLike], confidence: float = CONFIDENCE, against: str | None = None
) -> list[PairDifference]:
    """Return every pair of groups, in the order given (Games and Howell, J. Educ. Stat. 1, 1976).

    With `against`, a group's name, only its pairs are returned, with it as the second; the family
    is still all pairs.

    Assumes runs that are independent and about normal within a group; variances and sizes may
    differ. Intervals and p values hold for all pairs together (studentised range). It does not use
    that runs come in blocks. Undetermined with a timeout or a group without spread. R:
    `rstatix::games_howell_test`.
    """
    runs = dict(zip(groups, as_groups(list(groups.values())), strict=True))
    if against is None:
        pairs = list(combinations(runs, 2))
    else:
        pairs = [(name, against) for name in runs if name != against]
    reason = why_untestable(list(runs.values()), means=True)
    if not reason and any(np.ptp(group) == 0 for group in runs.values()):
        reason = "the runs of a stack show no spread"
    if reason:
        return [PairDifference(a, b, reason=reason) for a, b in pairs]
    return [
        PairDifference(a, b, *_compare(runs[a], runs[b], len(runs), confidence)) for a, b in pairs
    ]


def _compare(
    x: Floats, r: Floats, groups: int, confidence: float
) -> tuple[float, float, float, float]:
    """Return the difference of means, its bounds and p.

    The degrees of freedom are Welch and Satterthwaite's.
    """
    variances = float(x.var(ddof=1)) / len(x), float(r.var(ddof=1)) / len(r)
    freedom = sum_freedom(variances, (len(x) - 1, len(r) - 1))
    error = math.sqrt(sum(variances) / 2)
    value = float(x.mean() - r.mean())
    reach = range_quantile(confidence, groups, freedom) * error
    p = range_survival(abs(value) / error, groups, freedom)
    return value, value - reach, value + reach, p
