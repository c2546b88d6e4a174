"""One stack's gain over all networks, each weighted by its use."""

import math
from collections.abc import Mapping, Sequence

from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.stats.estimate import CONFIDENCE, Estimate, undetermined
from eyelevel.analysis.stats.ratio_of_means import with_interval

NAMED_MAX = 3  # networks without an interval; more would bury the message


def weighted_gain(gains: Sequence[NetworkGain], weights: Mapping[str, float]) -> Estimate:
    """Return the weighted mean over networks of one stack's gains.

    The weights are taken as known; errors of different networks add in squares, and the interval is
    Student's t with Welch and Satterthwaite's degrees of freedom. It is undetermined if any network
    of `weights` has no gain with an interval: a mean over the others would be of other users.

    In a study that may stop early gains have no errors, but intervals that hold together
    (Bonferroni). The weighted means of their bounds then hold, too, and are wider than necessary.
    """
    if not gains and not weights:
        return undetermined("there is no complete block to compare yet")
    if lacking := _describe_missing(gains, weights):
        return undetermined(lacking, len(gains))
    total = math.fsum(weights.values())
    if all(_is_simultaneous(gain.gain) for gain in gains):
        shares = [weights[gain.network] / total for gain in gains]
        value, low, high = (
            math.fsum(share * bound for share, bound in zip(shares, bounds, strict=True))
            for bounds in zip(
                *((gain.gain.value, gain.gain.low, gain.gain.high) for gain in gains), strict=True
            )
        )
        return Estimate(value, low, high, None, None, None, len(gains))
    return _combine_errors(gains, weights, total)


def _describe_missing(gains: Sequence[NetworkGain], weights: Mapping[str, float]) -> str:
    """Return the networks without an interval and their reasons; empty if all have one."""
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


def _is_simultaneous(gain: Estimate) -> bool:
    return gain.standard_error is None and gain.low is not None and gain.high is not None


def _combine_errors(
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
