"""Classify a difference between two stacks by one of five words, from samples alone.

A difference is an interval, never a point. It is `equal` only where the whole interval lies within
the margin; where a bound is expected by nature, only where it lies within that bound; it is
`unequal` only where it lies outside of all that is allowed. What lies across a border says nothing:
`unknown`.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from eyelevel.analysis.stats.estimate import Estimate, undetermined, welch_estimate

Class = Literal["equal", "inherent", "browser", "unequal", "unknown", "absent"]
"""`absent` is said of a row, not decided from samples: a stack that has nothing of the kind."""
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
    """The allowed range of the second's value minus the first's, in addition to the margin around
    zero."""

    kind: Literal["inherent", "browser"]
    low: float
    high: float


def difference(first: Sequence[Value], second: Sequence[Value], compared: Compared) -> Estimate:
    """Return the second side's value less the first's; undetermined where there are too few values
    to tell, or one of them is not a finite number.

    `mean`: Welch's interval; `count`: from the least to the greatest difference that any two runs
    have, no chance assumed; `label`: 0 where all are the same, 1 where no side has one of the
    other's.
    """
    if min(len(first), len(second)) < SAMPLES_MIN:
        return undetermined(f"a stack has fewer than {SAMPLES_MIN} values")
    if compared == "label":
        return _labels({str(each) for each in first}, {str(each) for each in second})
    one, two = [float(each) for each in first], [float(each) for each in second]
    if not all(map(math.isfinite, (*one, *two))):
        # Least and largest of what holds a NaN depend on its place.
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
    """Return the word for a difference; `margin` is what is too little to matter, on either
    side."""
    if found.low is None or found.high is None:
        return "unknown"
    if -margin <= found.low and found.high <= margin and _may_be_none(bound, margin):
        return "equal"
    least, most = allowed_range(margin, bound)
    if least <= found.low and found.high <= most:
        # Without a bound this is the margin, and was equal.
        return "equal" if bound is None else bound.kind
    if found.low > most or found.high < least:
        return "unequal"
    return "unknown"


def _may_be_none(bound: Bound | None, margin: float) -> bool:
    """Return whether no difference is one of those that are expected: where a law demands one, its
    absence is an error as well."""
    return bound is None or (bound.low - margin <= 0.0 <= bound.high + margin)


def _labels(first: set[str], second: set[str]) -> Estimate:
    if first == second and len(first) == 1:
        return Estimate(0.0, 0.0, 0.0)
    if first.isdisjoint(second):
        return Estimate(1.0, 1.0, 1.0)
    return Estimate(1.0, 0.0, 1.0)
