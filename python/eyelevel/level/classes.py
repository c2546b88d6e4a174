"""What a difference between two stacks is: five words, decided from samples alone.

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

import scipy

Class = Literal["equal", "inherent", "browser", "unequal", "unknown", "absent"]
"""`absent` is said of a row, not decided from samples: a stack that has nothing of the kind."""
Compared = Literal["mean", "count", "label"]
Value = float | str

CONFIDENCE = 0.95
SAMPLES_MIN = 3
"""Of each side: fewer have an interval that holds everything."""

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
    """What the second's value less the first's may be, beside zero within the margin."""

    kind: Literal["inherent", "browser"]
    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """The second side's value less the first's with its interval. Of labels: 0 where all are the
    same, 1 where no side has one of the other's."""

    value: float
    low: float
    high: float


def difference(
    first: Sequence[Value], second: Sequence[Value], compared: Compared
) -> Difference | None:
    """None where there are too few values to tell, or one of them is no finite number.

    `mean`: Welch's interval; `count`: from the least to the greatest difference that any two runs
    have, no chance assumed; `label`: whether they are the same.
    """
    if min(len(first), len(second)) < SAMPLES_MIN:
        return None
    if compared == "label":
        return _labels({str(each) for each in first}, {str(each) for each in second})
    one, two = [float(each) for each in first], [float(each) for each in second]
    if not all(map(math.isfinite, (*one, *two))):
        return None  # least and largest of what holds a NaN depend on its place
    if compared == "count":
        middle = statistics.median(two) - statistics.median(one)
        return Difference(middle, min(two) - max(one), max(two) - min(one))
    return _welch(one, two)


def allowed(margin: float, bound: Bound | None) -> tuple[float, float]:
    """From the least to the greatest difference that is not unequal."""
    if bound is None:
        return -margin, margin
    return bound.low - margin, bound.high + margin


def classify(found: Difference | None, margin: float, bound: Bound | None = None) -> Class:
    """The word for a difference; `margin` is what is too little to matter, on either side."""
    if found is None:
        return "unknown"
    if -margin <= found.low and found.high <= margin and _may_be_none(bound, margin):
        return "equal"
    least, most = allowed(margin, bound)
    if least <= found.low and found.high <= most:
        # Without a bound this is the margin, and was equal.
        return "equal" if bound is None else bound.kind
    if found.low > most or found.high < least:
        return "unequal"
    return "unknown"


def _may_be_none(bound: Bound | None, margin: float) -> bool:
    """Whether no difference is one of those that are expected: where a law demands one, its absence
    is an error as well."""
    return bound is None or (bound.low - margin <= 0.0 <= bound.high + margin)


def _labels(first: set[str], second: set[str]) -> Difference:
    if first == second and len(first) == 1:
        return Difference(0.0, 0.0, 0.0)
    if first.isdisjoint(second):
        return Difference(1.0, 1.0, 1.0)
    return Difference(1.0, 0.0, 1.0)


def _welch(first: Sequence[float], second: Sequence[float]) -> Difference:
    middle = statistics.fmean(second) - statistics.fmean(first)
    parts = [statistics.variance(side) / len(side) for side in (first, second)]
    error = math.sqrt(sum(parts))
    if error == 0.0:
        return Difference(middle, middle, middle)
    weighed = sum(
        part**2 / (len(side) - 1) for part, side in zip(parts, (first, second), strict=True)
    )
    freedom = error**4 / weighed
    half = float(scipy.stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) * error
    return Difference(middle, middle - half, middle + half)
