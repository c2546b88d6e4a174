"""Equivalence: is the difference smaller than what matters?"""

import scipy

from eyelevel.stats.estimate import Estimate
from eyelevel.stats.hypothesis.difference import DifferenceTest


def equivalence(estimate: Estimate, smallest_effect: float) -> DifferenceTest:
    """Two one-sided t tests that an effect lies within +-`smallest_effect`, in its unit.

    The larger of both p values (Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15, 1987);
    p <= 0.05 exactly when the 90 % interval lies inside. Assumes what the estimate's own t interval
    assumes. Undetermined if the estimate has no standard error. The statistic is the t of the
    nearer bound. R: `TOSTER::tsum_TOST` on the same estimate and error.
    """
    if smallest_effect <= 0:
        raise ValueError("the smallest effect of interest must be above 0")
    error, freedom = estimate.standard_error, estimate.degrees_of_freedom
    if estimate.value is None or error is None or freedom is None:
        return DifferenceTest(reason=estimate.reason or "there is no standard error")
    above_low = (estimate.value + smallest_effect) / error
    below_high = (smallest_effect - estimate.value) / error
    t = min(above_low, below_high)
    return DifferenceTest(float(t), float(scipy.special.stdtr(freedom, -t)), (float(freedom),))
