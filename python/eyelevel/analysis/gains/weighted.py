"""One stack's gain over all networks, each weighted by its use."""

import math
from collections.abc import Mapping, Sequence

from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.stats.estimate import CONFIDENCE, Estimate, undetermined
from eyelevel.stats.gain import with_interval

NAMED_MAX = 3  # networks without an interval; more would bury what is said


def weighted_gain(gains: Sequence[NetworkGain], weights: Mapping[str, float]) -> Estimate:
    """The mean over networks of one stack's gains, each counting by its weight.

    The weights are taken as known; errors of different networks add in squares, the interval is
    Student's t with Welch and Satterthwaite's degrees of freedom. Undetermined as soon as one
    network of `weights` has no gain with an interval: a mean over the others would be of other
    users.

    Of a study that may stop early the gains have no errors but intervals that hold together
    (Bonferroni): the bounds' weighted means are then bounds that hold, too, and wider than need be.
    """
    if not gains and not weights:
        return undetermined("there is no complete block to compare yet")
    if lacking := _lacking(gains, weights):
        return undetermined(lacking, len(gains))
    total = math.fsum(weights.values())
    if all(_simultaneous(each.gain) for each in gains):
        shares = [weights[each.network] / total for each in gains]
        value, low, high = (
            math.fsum(share * bound for share, bound in zip(shares, bounds, strict=True))
            for bounds in zip(
                *((e.gain.value, e.gain.low, e.gain.high) for e in gains), strict=True
            )
        )
        return Estimate(value, low, high, None, None, None, len(gains))
    return _of_errors(gains, weights, total)


def _lacking(gains: Sequence[NetworkGain], weights: Mapping[str, float]) -> str:
    """Which networks have no interval and why, a few of them by name; nothing where all have."""
    found = {each.network: each.gain for each in gains}
    reasons = {}
    for network in weights:
        gain = found.get(network)
        if gain is None:
            reasons[network] = "no complete block is left"
        elif gain.low is None or gain.high is None:
            reasons[network] = gain.reason or "no interval"
    said = [f"{network}: {reason}" for network, reason in reasons.items()]
    if len(said) > NAMED_MAX:
        said[NAMED_MAX:] = [f"{len(said) - NAMED_MAX} more networks"]
    return "; ".join(said)


def _simultaneous(gain: Estimate) -> bool:
    return gain.standard_error is None and gain.low is not None and gain.high is not None


def _of_errors(
    gains: Sequence[NetworkGain], weights: Mapping[str, float], total: float
) -> Estimate:
    value, squares, shares = 0.0, 0.0, 0.0
    for each in gains:
        share, gain = weights[each.network] / total, each.gain
        if gain.value is None or gain.standard_error is None or gain.degrees_of_freedom is None:
            reason = gain.reason or "no standard error"
            return undetermined(f"{each.network}: {reason}", len(gains))
        value += share * gain.value
        square = (share * gain.standard_error) ** 2
        squares += square
        shares += square**2 / gain.degrees_of_freedom
    if squares == 0:
        return undetermined("the runs show no spread at all", len(gains), value)
    return with_interval(value, math.sqrt(squares), squares**2 / shares, len(gains), CONFIDENCE)
