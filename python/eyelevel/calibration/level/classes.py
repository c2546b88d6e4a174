"""Classify a difference between two stacks by one of five words, from samples alone.

A difference is an interval, never a point. It is `equal` only if the whole interval lies within the
margin, and `inherent` or the browser's only if it lies within the range that is expected. It is
`unequal` only if it lies outside of all that is allowed. An interval across a limit is `unknown`.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from eyelevel.analysis.stats.estimate import Estimate, undetermined, welch_estimate

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


def allowed_range(margin: float, bound: Bound | None) -> tuple[float, float]:
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
    least, most = allowed_range(margin, bound)
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
