"""Classify a difference between two stacks by one of five words, from samples alone.

A difference is an interval, never a point. It is `equal` only if the whole interval lies within the
margin, and `inherent` or the browser's only if it lies within the range that is expected. It is
`unequal` only if it lies outside of all that is allowed. An interval across a limit is `unknown`.

An `Aspect` is what stacks may differ in, a `Measure` how it is measured, and a `Scenario` one
measurement over one of the networks here.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from eyelevel.analysis.stats.estimate import Estimate, undetermined, welch_estimate
from eyelevel.base.json_types import JsonMapping
from eyelevel.plan.networks.network import Network
from eyelevel.plan.stacks import Stack

Class = Literal["equal", "inherent", "browser", "unequal", "unknown", "absent"]
"""The classes. `absent` is not decided from samples: it is for a stack that lacks the aspect."""
Compared = Literal["mean", "count", "label"]
Value = float | str

SAMPLES_MIN = 3
"""The fewest samples of each side; with fewer the interval would include everything."""

CLASS_NAMES: dict[Class, str] = {
    "equal": "equal",
    "inherent": "inherent",
    "browser": "the browser's",
    "unequal": "unequal",
    "unknown": "unknown",
    "absent": "not there",
}


@dataclass(frozen=True)
class Bound:
    """The allowed range of the second value minus the first, besides the margin around zero."""

    kind: Literal["inherent", "browser"]
    low: float
    high: float


def difference(first: Sequence[Value], second: Sequence[Value], compared: Compared) -> Estimate:
    """Return the second side's value less the first's, with an interval.

    `mean`: Welch's interval; `count`: from the least to the greatest difference of any two runs,
    without a probability; `label`: 0 if all are the same, 1 if the sides have none in common.
    Undetermined with too few values, or if one is not finite.
    """
    if min(len(first), len(second)) < SAMPLES_MIN:
        return undetermined(f"a stack has fewer than {SAMPLES_MIN} values")
    if compared == "label":
        return _labels({str(each) for each in first}, {str(each) for each in second})
    one, two = [float(each) for each in first], [float(each) for each in second]
    if not all(map(math.isfinite, (*one, *two))):
        # With a NaN, minimum and maximum depend on its position.
        return undetermined("a value is not a finite number")
    if compared == "count":
        middle = statistics.median(two) - statistics.median(one)
        return Estimate(middle, min(two) - max(one), max(two) - min(one))
    return welch_estimate(two, one)


def find_allowed_range(margin: float, bound: Bound | None) -> tuple[float, float]:
    """Return the least and the greatest difference that is not unequal."""
    if bound is None:
        return -margin, margin
    return bound.low - margin, bound.high + margin


def classify(found: Estimate, margin: float, bound: Bound | None = None) -> Class:
    """Return the class of a difference; one within +-`margin` is too small to matter."""
    if found.low is None or found.high is None:
        return "unknown"
    if -margin <= found.low and found.high <= margin and _allows_no_difference(bound, margin):
        return "equal"
    least, most = find_allowed_range(margin, bound)
    if least <= found.low and found.high <= most:
        # Without a bound this is the margin, which was tested above.
        return "equal" if bound is None else bound.kind
    if found.low > most or found.high < least:
        return "unequal"
    return "unknown"


def _allows_no_difference(bound: Bound | None, margin: float) -> bool:
    """Return whether no difference is within the expected range.

    If the expected range excludes zero, the absence of a difference is an error as well.
    """
    return bound is None or (bound.low - margin <= 0.0 <= bound.high + margin)


def _labels(first: set[str], second: set[str]) -> Estimate:
    if first == second and len(first) == 1:
        return Estimate(0.0, 0.0, 0.0)
    if first.isdisjoint(second):
        return Estimate(1.0, 1.0, 1.0)
    return Estimate(1.0, 0.0, 1.0)


@dataclass(frozen=True)
class Measure:
    """How an aspect is measured, compared and bounded.

    `value`: the name of its value in a run (`eyelevel.calibration.level.page_values`,
    `transfer_values`). `on`: the scenarios that have it. `unit` is that of value and `margin`;
    `margin_share` is of the mean of both sides, and the larger of both margins counts. `compared`:
    see `eyelevel.calibration.level.classes.difference`. `bound`: the range of QUIC's value less
    TCP's that the protocols or the browser imply, with `because`, the RFC's section or the
    browser's setting; it applies to such a pair only, and only if both stacks have the settings
    `bound_with`. `none_of`: returns why a stack does not have the aspect, or "".
    """

    value: str
    on: tuple[str, ...]
    unit: str
    source: str
    margin: float = 0.0
    margin_share: float = 0.0
    compared: Compared = "mean"
    bound: Bound | None = None
    because: str = ""
    bound_with: JsonMapping = field(default_factory=dict)
    none_of: Callable[[Stack], str] | None = None

    def margin_of(self, first: float, second: float) -> float:
        """Return the margin for the means of both sides."""
        return max(self.margin, self.margin_share * (abs(first) + abs(second)) / 2)


@dataclass(frozen=True)
class Aspect:
    """An aspect in which stacks may differ: a setting, a measurement, or both.

    `says`: returns its setting in words; `settings`: the stack's settings that determine it.
    `what`: what is measured, as a phrase. `switch`: a setting that changes only this aspect, for
    `--effects`; empty if there is none.
    """

    name: str
    says: Callable[[Stack], str] | None = None
    settings: tuple[str, ...] = ()
    what: str = ""
    measure: Measure | None = None
    switch: JsonMapping = field(default_factory=dict)


PAGES = ("page on far", "page on slow")


QUEUE_MS = 1000.0
"""The queue's length: no first window overflows it, so that packets are lost on purpose only."""

FAR = Network("far", 100_000_000, 100_000_000, 200.0, QUEUE_MS)
"""A network on which only round trips matter."""
SLOW = Network("slow", 468_000, 468_000, 262.0, 5 * QUEUE_MS)
"""A network on which bytes matter: Wolsing's DA2GC, without its loss and with a queue that holds a
window."""
LOSSY = Network("lossy", 10_000_000, 10_000_000, 100.0, QUEUE_MS)
"""A network that loses chosen packets."""

Kind = Literal["page", "bulk", "late", "tail", "middle"]


@dataclass(frozen=True)
class Scenario:
    """One measurement over one network.

    `page`: the generated page in Chromium. `bulk`: `body_bytes` with our own client. `tail` and
    `middle`: the same with the last packet, or one in the middle, lost. `late`: an urgent request
    during a body of `body_bytes`. `expected_s`: the time of one run, for the estimate of the time
    left before the first was measured.
    """

    name: str
    network: Network
    kind: Kind
    expected_s: float
    body_bytes: int = 0


SCENARIOS: tuple[Scenario, ...] = (
    Scenario("page on far", FAR, "page", 4.5),
    Scenario("page on slow", SLOW, "page", 7.5),
    Scenario("bulk on far", FAR, "bulk", 2.0, 400_000),
    Scenario("late on slow", SLOW, "late", 5.0, 300_000),
    Scenario("loss at the tail", LOSSY, "tail", 2.5, 20_000),
    Scenario("loss in the middle", LOSSY, "middle", 2.0, 40_000),
)
SCENARIOS_BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
