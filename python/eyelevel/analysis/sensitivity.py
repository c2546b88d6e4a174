"""The smallest difference that a fixed number of blocks would show, one number per network."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL, detectable_effect
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject


@dataclass(frozen=True)
class NetworkError:
    """The error that a network's comparisons share: the root of their mean squared errors.

    It is that of a log gain; `deviation` is the standard deviation of one block's mean over the
    sites, from the same squares.
    """

    error: float
    freedom: float
    deviation: float

    def effect(self, family: int) -> float:
        """Return the smallest effect, as a share, that this error allows to find in a family."""
        return smallest_effect(self.error, self.freedom, family)


@dataclass(frozen=True)
class Sensitivity:
    """The share by which a stack must be faster on a network for 80 % of runs to call it so."""

    network: str
    effect: float

    def as_json(self) -> JsonObject:
        """Return the JSON of a report (docs/reference/report.md)."""
        return {"network": self.network, "effect": self.effect}


def smallest_effect(error: float, freedom: float, family: int) -> float:
    """Return the share by which a stack must be faster for 80 % of runs to call it so.

    `error` is that of its log gain, with `freedom` degrees of freedom. Of a `family` of comparisons
    only this one differs, so that it has to pass the first of Holm's steps
    (`benchmarks.statistics.sensitivity`).
    """
    return -math.expm1(-detectable_effect(error, freedom, SIGNIFICANCE_LEVEL / max(1, family)))


def error_of_network(gains: Sequence[NetworkGain], network: str) -> NetworkError | None:
    """Return the error shared by a network's gains of one metric; None without an error."""
    of_logs = [
        (each.standard_error / (1 + each.value), each.degrees_of_freedom, each.n)
        for each in (gain.gain for gain in gains if gain.network == network)
        if each.value is not None
        and each.standard_error is not None
        and each.degrees_of_freedom is not None
    ]
    if not of_logs:
        return None
    return NetworkError(
        math.sqrt(fmean(error**2 for error, _, _ in of_logs)),
        fmean(freedom for _, freedom, _ in of_logs),
        math.sqrt(fmean(error**2 * n for error, _, n in of_logs)),
    )


def sensitivities(results: StudyResults) -> list[Sensitivity]:
    """Return each network's sensitivity; empty for a study that may stop early.

    Such a study continues until it decides.
    """
    if results.may_stop:
        return []
    gains = [gain for gain in results.gains if gain.metric == results.primary_metric]
    family = max((gain.family for gain in gains), default=1)
    errors = [(network, error_of_network(gains, network)) for network in results.networks]
    return [Sensitivity(network, each.effect(family)) for network, each in errors if each]
