"""Equivalence: is the difference smaller than the smallest effect of interest?"""

import math

import scipy

from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.stats.hypothesis.difference import DifferenceTest


def equivalence(estimate: Estimate, low: float, high: float) -> DifferenceTest:
    """Test by two one-sided t tests that an effect lies between `low` and `high`, in its unit.

    The p value is the larger of both (Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15,
    1987); p <= 0.05 exactly if the 90 % interval lies inside. The assumptions are those of the
    estimate's own t interval. Undetermined if the estimate has no standard error. The statistic is
    the t of the nearer bound. R: `TOSTER::tsum_TOST` on the same estimate and error.
    """
    error, freedom = estimate.standard_error, estimate.degrees_of_freedom
    if estimate.value is None or error is None or freedom is None:
        return DifferenceTest(reason=estimate.reason or "there is no standard error")
    t = min(estimate.value - low, high - estimate.value) / error
    return DifferenceTest(float(t), float(scipy.special.stdtr(freedom, -t)), (float(freedom),))


def gain_equivalence(gain: Estimate, smallest_effect: float) -> DifferenceTest:
    """Test that a geometric mean's gain lies within +-`smallest_effect`, as a share.

    The test is on the logarithm, as is the gain's interval
    (`eyelevel.analysis.stats.paired_gains.geometric_gain`): the 90 % one lies within the bounds
    exactly if p <= 0.05.
    """
    if smallest_effect <= 0:
        raise ValueError("the smallest effect of interest must be above 0")
    if gain.value is None or gain.standard_error is None:
        return equivalence(gain, 0.0, 0.0)
    on_log = Estimate(
        math.log1p(gain.value),
        standard_error=gain.standard_error / (1 + gain.value),
        degrees_of_freedom=gain.degrees_of_freedom,
    )
    low = math.log1p(-smallest_effect) if smallest_effect < 1 else -math.inf
    return equivalence(on_log, low, math.log1p(smallest_effect))
