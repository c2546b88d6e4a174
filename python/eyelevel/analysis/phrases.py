"""The finding of a gain, one of a closed list."""

from collections.abc import Sequence

from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.stats.hypothesis.equivalence import gain_equivalence

SIGNIFICANCE_LEVEL = 0.05
FEW_BLOCKS = 10  # below it, a report warns of what few runs cannot show


def verdict(gain: NetworkGain, smallest_effect: float) -> str:
    """Return the finding of one primary comparison, from the closed list.

    A difference in how many loads finished takes precedence over any finding in another direction:
    a stack whose pages do not finish is not called faster.
    """
    found = _of_gain(gain, effect_of([gain], smallest_effect))
    counts = gain.timeouts
    if not gain.timeouts_differ or counts is None:
        return found
    fewer = counts.count < counts.count_reference
    if found.startswith("faster" if fewer else "slower"):
        return found
    return "more loads finished" if fewer else "fewer loads finished"


def effect_of(gains: Sequence[NetworkGain], smallest_effect: float) -> float:
    """Return the smallest effect of interest of these gains as a share: of several the largest, by
    which what is said of it holds for all."""
    return max([smallest_effect, *(gain.least_share for gain in gains)])


def _of_gain(gain: NetworkGain, smallest_effect: float) -> str:
    estimate = gain.gain
    if estimate.value is None:
        return "undetermined"
    if estimate.low is None or estimate.high is None or gain.p_holm is None:
        return "undetermined"
    alike, has_sign = _is_alike(gain, smallest_effect), gain.p_holm <= SIGNIFICANCE_LEVEL
    if has_sign and not gain.signs_disagree:
        way = "faster" if estimate.value < 0 else "slower"
        return f"{way}, by less than matters" if alike else way
    if alike:
        return "no difference that matters"
    return "mean and median disagree" if has_sign else "no clear difference"


def _is_alike(gain: NetworkGain, smallest_effect: float) -> bool:
    """Return whether the gain is shown to be smaller than the smallest effect, after correction.

    The test is two one-sided tests, corrected over the family by Bonferroni. In a study with a
    fixed number of blocks the whole 95 % interval must lie within the effect, too; in one that may
    stop early the one-sided bounds already allow for the family and the interim analyses.
    """
    bounds = gain.one_sided or gain.gain
    low, high = bounds.low, bounds.high
    if low is None or high is None or low <= -smallest_effect or high >= smallest_effect:
        return False
    if gain.one_sided:
        return True
    p = gain_equivalence(gain.gain, smallest_effect).p
    return p is not None and gain.family * p <= SIGNIFICANCE_LEVEL
