"""The p values of a study's gains: corrected by Benjamini and Hochberg, and of equivalence."""

from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.stats.estimate import Estimate, undetermined
from eyelevel.analysis.stats.families import correct
from eyelevel.analysis.stats.hypothesis.difference import DifferenceTest
from eyelevel.analysis.stats.hypothesis.equivalence import gain_equivalence

MAY_STOP = "the study could stop at any block, and these do not allow for that"


def value_alone(estimate: Estimate) -> Estimate:
    """Return an estimate without its interval, which would not allow for early stopping."""
    return undetermined(estimate.reason or MAY_STOP, estimate.n, estimate.value)


@dataclass(frozen=True)
class GainTests:
    """One gain with its p values; each is None if it does not exist, equivalence with its reason.

    `family` names the comparisons that `p_benjamini_hochberg` is corrected over: those of one
    metric over all networks and comparisons, as in Holm's correction of the primary metric.
    `members`: how many of them have a p value.
    """

    gain: NetworkGain
    family: str
    members: int
    p_benjamini_hochberg: float | None
    equivalence: DifferenceTest


def gain_tests(
    gains: Sequence[NetworkGain], smallest_effect: float, may_stop: str | None = None
) -> list[GainTests]:
    """Return the tests of each of `gains`, in their order.

    `smallest_effect`: of interest, as a share above 0. `may_stop`: the primary metric of a study
    that may stop early; its gains have anytime-valid p values and get neither of these tests.
    """
    families: dict[str, list[float | None]] = {}
    for gain in gains:
        p = None if gain.metric == may_stop else gain.gain.p
        families.setdefault(gain.metric, []).append(p)
    named = {family_of(metric): values for metric, values in families.items()}
    corrected = correct(named, "benjamini-hochberg")
    adjusted = {name: iter(family.adjusted) for name, family in corrected.items()}
    tests = []
    for gain in gains:
        name = family_of(gain.metric)
        if gain.metric == may_stop:
            alike = DifferenceTest(reason=MAY_STOP)
        else:
            alike = gain_equivalence(gain.gain, max(smallest_effect, gain.least_share))
        tests.append(GainTests(gain, name, corrected[name].members, next(adjusted[name]), alike))
    return tests


def family_of(metric: str) -> str:
    """Return the name of a metric's family of comparisons."""
    return f"{metric}, all networks and comparisons"
