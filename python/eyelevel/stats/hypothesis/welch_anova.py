"""Welch's analysis of variance: do the means differ, when the variances may?"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from eyelevel.stats.hypothesis.difference import DifferenceTest, as_groups, checked, trouble


def welch_anova(groups: Sequence[ArrayLike]) -> DifferenceTest:
    """F test of equal means of two or more groups of runs (Welch, Biometrika 38, 1951).

    Assumes runs that are independent and about normal within a group; variances may differ. It does
    not use that runs come in blocks. Undetermined with a timeout or where a group has no spread,
    which leaves its weight unknown. R: `oneway.test(value ~ group)`.
    """
    # Imported where it is used: it takes longer than all else that a command imports.
    from statsmodels.stats.oneway import anova_oneway

    found = as_groups(list(groups))
    if reason := trouble(found, means=True):
        return DifferenceTest(reason=reason)
    if any(np.ptp(group) == 0 for group in found):
        return DifferenceTest(reason="the runs of a stack show no spread at all")
    result = anova_oneway(found, use_var="unequal", welch_correction=True)
    freedom = (float(result.df_num), float(result.df_denom))
    return checked(float(result.statistic), float(result.pvalue), freedom)
