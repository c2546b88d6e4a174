"""Mann-Whitney's test and Cliff's delta: how often is a load of one stack slower than another's?"""

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from eyelevel.analysis.stats.estimate import CONFIDENCE, Floats
from eyelevel.analysis.stats.hypothesis.difference import as_groups, why_untestable


@dataclass(frozen=True)
class Dominance:
    """Cliff's delta, P(value > reference) - P(value < reference), with its interval and p.

    At -1 every load is faster than every one of the reference. None, with the reason, if it cannot
    be computed; without an interval if the samples do not overlap or have no spread.
    """

    delta: float | None = None
    low: float | None = None
    high: float | None = None
    u: float | None = None
    p: float | None = None
    reason: str = ""


def mann_whitney(
    values: ArrayLike, reference: ArrayLike, confidence: float = CONFIDENCE
) -> Dominance:
    """Return the two-sided Mann-Whitney U (exact without ties up to 8 runs) and Cliff's delta.

    Assumes independent runs; it does not use that they come in pairs. A timeout (infinity) is
    slower than any load that ended and ties with other timeouts, which is the order after censoring
    at the limit. The interval is Cliff's, asymmetric, from the consistent variance estimate (Cliff,
    Psychological Bulletin 114, 1993, equations 10 and 12 with Feng and Cliff's bounds, J. Modern
    Applied Statistical Methods 3, 2004). R: `wilcox.test(x, y)`, `effsize::cliff.delta(x, y)`.
    """
    x, r = as_groups([values, reference])
    if reason := why_untestable([x, r], means=False):
        return Dominance(reason=reason)
    with np.errstate(invalid="ignore"):  # infinity - infinity: two timeouts, a tie
        signs = np.sign(np.nan_to_num(x[:, None] - r[None, :], nan=0.0))
    delta = float(signs.mean())
    if not signs.any():
        return Dominance(0.0, reason="all runs are equal")
    result = scipy.stats.mannwhitneyu(x, r, alternative="two-sided")
    low, high = _interval(signs, delta, confidence)
    reason = "" if low is not None else "every load of one stack is slower than every other one's"
    return Dominance(delta, low, high, float(result.statistic), float(result.pvalue), reason)


def _interval(signs: Floats, delta: float, confidence: float) -> tuple[float | None, float | None]:
    n, m = signs.shape
    if abs(delta) == 1:
        return None, None
    rows = ((signs.mean(axis=1) - delta) ** 2).sum()
    columns = ((signs.mean(axis=0) - delta) ** 2).sum()
    cells = ((signs - delta) ** 2).sum()
    variance = (m**2 * rows + n**2 * columns - cells) / (n * m * (n - 1) * (m - 1))
    # The unbiased estimate can fall below any sample's; this is Cliff's lower limit for it.
    variance = max(variance, (1 - delta**2) / (n * m - 1))
    z = float(scipy.stats.norm.ppf(0.5 + confidence / 2))
    reach = z * math.sqrt(variance) * math.sqrt((1 - delta**2) ** 2 + z**2 * variance)
    divisor = 1 - delta**2 + z**2 * variance
    centre = delta - delta**3
    return (centre - reach) / divisor, (centre + reach) / divisor
