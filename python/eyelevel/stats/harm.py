"""What a page pays for the transfers beside it."""

from collections.abc import Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from eyelevel.stats.estimate import Estimate
from eyelevel.stats.gain import mean_gain, performance_gain


def harm(beside: ArrayLike, alone: ArrayLike) -> Estimate:
    """The harm to a metric of which less is better: (beside - alone) / beside, of means.

    Ware, Mukerjee, Seshan, Sherry 2019 (Beyond Jain's Fairness Index, HotNets), section 3: 0 is
    none, 1 the worst; negative where the loads beside cross traffic were faster. Loads come in
    pairs, of one site, stack and repetition; the interval is that of `performance_gain`, mirrored.
    """
    return _mirrored(performance_gain(alone, beside))


def harm_of_gains(gains: Sequence[Estimate]) -> Estimate:
    """The mean harm over sites, from the gains of their loads alone over those beside."""
    return _mirrored(mean_gain(gains))


def _mirrored(gain: Estimate) -> Estimate:
    return replace(
        gain,
        value=None if gain.value is None else -gain.value,
        low=None if gain.high is None else -gain.high,
        high=None if gain.low is None else -gain.low,
    )
