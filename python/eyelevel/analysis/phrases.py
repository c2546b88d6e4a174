"""What a gain shows, as one of a closed list, and what the runs could have shown."""

from collections.abc import Sequence

from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.stats.estimate import smallest_detectable
from eyelevel.stats.hypothesis.equivalence import gain_equivalence

SIGNIFICANCE_LEVEL = 0.05
FEW_BLOCKS = 10  # below it, a report warns of what so few runs cannot show


def verdict(gain: NetworkGain, smallest_effect: float) -> str:
    """What one primary comparison says: the closed list of findings.

    That one stack leaves more loads unfinished comes before every finding that does not point the
    same way: a stack whose pages do not finish is not called faster.
    """
    found = _of_gain(gain, smallest_effect)
    counts = gain.timeouts
    if not gain.timeouts_differ or counts is None:
        return found
    fewer = counts.count < counts.count_reference
    if found == ("faster" if fewer else "slower"):
        return found
    return "more loads finished" if fewer else "fewer loads finished"


def _of_gain(gain: NetworkGain, smallest_effect: float) -> str:
    estimate = gain.gain
    if estimate.value is None:
        return "undetermined"
    if estimate.low is None or estimate.high is None or gain.p_holm is None:
        return "undetermined"
    if _is_alike(gain, smallest_effect):
        return "no difference that matters"
    if gain.p_holm <= SIGNIFICANCE_LEVEL:
        if gain.signs_disagree:
            return "mean and median disagree"
        return "faster" if estimate.value < 0 else "slower"
    return "no clear difference"


def _is_alike(gain: NetworkGain, smallest_effect: float) -> bool:
    """Whether the whole 95 % interval lies within the smallest effect, after the correction.

    Bonferroni's over the family, of two one-sided tests; a confidence sequence allows for it.
    """
    low, high = gain.gain.low, gain.gain.high
    if low is None or high is None or low <= -smallest_effect or high >= smallest_effect:
        return False
    p = gain_equivalence(gain.gain, smallest_effect).p
    return p is None or gain.family * p <= SIGNIFICANCE_LEVEL


def detectable(gains: Sequence[NetworkGain], metric: str) -> tuple[float, float] | None:
    """The smallest and the largest, over comparisons, of the effects that the runs could show."""
    effects = [
        smallest_detectable(gain.gain.standard_error, gain.gain.degrees_of_freedom)
        for gain in gains
        if gain.metric == metric
        and gain.gain.standard_error is not None
        and gain.gain.degrees_of_freedom is not None
    ]
    return (min(effects), max(effects)) if effects else None
