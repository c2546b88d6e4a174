"""One-way analysis of variance: as in Wolsing et al. 2019 (section 4), and Welch's.

`anova_of_two` assumes equal variances and compares two stacks' runs; `welch_anova` allows for
different variances, and for any number of groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from eyelevel.analysis.stats.estimate import Floats
from eyelevel.analysis.stats.hypothesis.difference import (
    DifferenceTest,
    as_groups,
    test_result,
    why_untestable,
)

SIGNIFICANCE_LEVEL = 0.01  # as in the paper

Verdict = Literal["lower", "higher", "no significant difference", "undetermined"]
"""The verdict on the mean. It never calls a stack faster or slower: with many sites tested this
way, some differ by chance."""


@dataclass(frozen=True)
class Anova:
    """The F statistic, p value and verdict; without a test both numbers are None, with the
    reason."""

    verdict: Verdict
    f: float | None = None
    p: float | None = None
    reason: str = ""


def anova_of_two(
    values: ArrayLike, reference: ArrayLike, significance_level: float = SIGNIFICANCE_LEVEL
) -> Anova:
    """Test whether the mean of `values` differs from that of `reference`.

    Assumes runs that are independent, about normal and of equal variance; it does not use that they
    come in pairs (the published test does not). Timeouts (infinity) leave no mean to compare.
    """
    x, r = np.asarray(values, dtype=float), np.asarray(reference, dtype=float)
    if len(x) < 2 or len(r) < 2:
        return Anova("undetermined", reason="fewer than two runs")
    if not (np.isfinite(x).all() and np.isfinite(r).all()):
        return Anova("undetermined", reason="a load timed out, so there is no mean")
    if np.ptp(x) == 0 and np.ptp(r) == 0:
        return Anova("undetermined", reason="the runs show no spread")
    f, p = _f_of_two(x, r)
    if not np.isfinite(p):
        return Anova("undetermined", reason="the test gave no number")
    if p >= significance_level:
        return Anova("no significant difference", f, p)
    return Anova("lower" if x.mean() < r.mean() else "higher", f, p)


def welch_anova(groups: Sequence[ArrayLike]) -> DifferenceTest:
    """Test for equal means of two or more groups of runs (Welch, Biometrika 38, 1951).

    Assumes runs that are independent and about normal within a group; variances may differ. It does
    not use that runs come in blocks. Undetermined with a timeout or if a group has no spread, which
    leaves its weight unknown. R: `oneway.test(value ~ group)`.
    """
    # Imported here: it takes longer than all other imports of a command.
    from statsmodels.stats.oneway import anova_oneway

    runs = as_groups(list(groups))
    if reason := why_untestable(runs, means=True):
        return DifferenceTest(reason=reason)
    if any(np.ptp(group) == 0 for group in runs):
        return DifferenceTest(reason="the runs of a stack show no spread")
    result = anova_oneway(runs, use_var="unequal", welch_correction=True)
    freedom = (float(result.df_num), float(result.df_denom))
    return test_result(float(result.statistic), float(result.pvalue), freedom)


def _f_of_two(x: Floats, r: Floats) -> tuple[float, float]:
    """Return F and p as `scipy.stats.f_oneway` does, in less than its 0.8 ms per call.

    A study has 28,000 comparisons.
    """
    n, m = len(x), len(r)
    between = (x.mean() - r.mean()) ** 2 * n * m / (n + m)
    within = (n * x.var() + m * r.var()) / (n + m - 2)
    f = float(between / within) if within > 0 else float("inf")
    return f, float(scipy.special.fdtrc(1, n + m - 2, f))
