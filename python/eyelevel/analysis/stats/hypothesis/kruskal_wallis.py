"""The Kruskal-Wallis test: does one stack tend to larger values than another?"""

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import ArrayLike

from eyelevel.analysis.stats.hypothesis.difference import (
    DifferenceTest,
    as_groups,
    test_result,
    why_untestable,
)

RUNS_MIN = 5  # the chi-squared approximation is poor below


def kruskal_wallis(groups: Sequence[ArrayLike]) -> DifferenceTest:
    """Test ranks for equal distributions, corrected for ties (Kruskal and Wallis, JASA 47, 1952).

    Assumes independent runs; no distribution is assumed. p comes from the chi-squared
    approximation, which needs at least five runs per group. A timeout (infinity) shares the largest
    rank: it is censored at the limit, and any value above the limit has that rank. It does not use
    that runs come in blocks. R: `kruskal.test(list(...))`.
    """
    runs = as_groups(list(groups))
    if reason := why_untestable(runs, means=False):
        return DifferenceTest(reason=reason)
    if any(len(group) < RUNS_MIN for group in runs):
        return DifferenceTest(reason=f"fewer than {RUNS_MIN} runs")
    if len(np.unique(np.concatenate(runs))) == 1:
        return DifferenceTest(reason="all runs are equal")
    result = scipy.stats.kruskal(*runs)
    return test_result(float(result.statistic), float(result.pvalue), (float(len(runs) - 1),))
