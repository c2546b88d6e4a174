"""One stack's gain over all networks, each weighted by its use."""

import math
from collections.abc import Mapping, Sequence

from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.stats.estimate import CONFIDENCE, Estimate, undetermined
from eyelevel.stats.ratio_of_means import with_interval

NAMED_MAX = 3  # networks without an interval; more would bury what is said


def weighted_gain(gains: Sequence[NetworkGain], weights: Mapping[str, float]) -> Estimate:
    """Return the mean over networks of one stack's gains, each counting by its weight.

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
    if all(_simultaneous(gain.gain) for gain in gains):
        shares = [weights[gain.network] / total for gain in gains]
        value, low, high = (
            math.fsum(share * bound for share, bound in zip(shares, bounds, strict=True))
            for bounds in zip(
                *((gain.gain.value, gain.gain.low, gain.gain.high) for gain in gains), strict=True
            )
        )
        return Estimate(value, low, high, None, None, None, len(gains))
    return _of_errors(gains, weights, total)


def _lacking(gains: Sequence[NetworkGain], weights: Mapping[str, float]) -> str:
    """Which networks have no interval and why, a few of them by name; nothing where all have."""
    by_network = {gain.network: gain.gain for gain in gains}
    reasons = {}
    for network in weights:
        estimate = by_network.get(network)
        if estimate is None:
            reasons[network] = "no complete block is left"
        elif estimate.low is None or estimate.high is None:
            reasons[network] = estimate.reason or "no interval"
    clauses = [f"{network}: {reason}" for network, reason in reasons.items()]
    if len(clauses) > NAMED_MAX:
        clauses[NAMED_MAX:] = [f"{len(clauses) - NAMED_MAX} more networks"]
    return "; ".join(clauses)


def _simultaneous(gain: Estimate) -> bool:
    return gain.standard_error is None and gain.low is not None and gain.high is not None


def _of_errors(
    gains: Sequence[NetworkGain], weights: Mapping[str, float], total: float
) -> Estimate:
    value, squares, shares = 0.0, 0.0, 0.0
    for network_gain in gains:
        share, gain = weights[network_gain.network] / total, network_gain.gain
        if gain.value is None or gain.standard_error is None or gain.degrees_of_freedom is None:
            reason = gain.reason or "no standard error"
            return undetermined(f"{network_gain.network}: {reason}", len(gains))
        value += share * gain.value
        square = (share * gain.standard_error) ** 2
        squares += square
        shares += square**2 / gain.degrees_of_freedom
    if squares == 0:
        return undetermined("the runs show no spread", len(gains), value)
    return with_interval(value, math.sqrt(squares), squares**2 / shares, len(gains), CONFIDENCE)
