"""What a test of `no difference` answers."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

RUNS_MIN = 2  # fewer show no spread


@dataclass(frozen=True)
class DifferenceTest:
    """A test statistic and its p value; both None, with the reason, when it cannot be done."""

    statistic: float | None = None
    p: float | None = None
    degrees_of_freedom: tuple[float, ...] = ()
    reason: str = ""

    @property
    def determined(self) -> bool:
        """Whether there is a p value."""
        return self.p is not None


def checked(
    statistic: float, p: float, degrees_of_freedom: tuple[float, ...] = ()
) -> DifferenceTest:
    """The test's answer; undetermined where a library gave no number."""
    if not (math.isfinite(statistic) and math.isfinite(p)):
        return DifferenceTest(reason="the test gave no number")
    return DifferenceTest(float(statistic), float(p), degrees_of_freedom)


def as_groups(groups: "list[ArrayLike] | tuple[ArrayLike, ...]") -> list[NDArray[np.float64]]:
    """The groups as arrays; raises ValueError for a missing value, which a caller must drop."""
    found = [np.asarray(group, dtype=float) for group in groups]
    if any(np.isnan(group).any() for group in found):
        raise ValueError("drop runs without a value first")
    return found


def trouble(groups: list[NDArray[np.float64]], means: bool) -> str:
    """Why these groups cannot be compared, or nothing; `means`: by a test of means."""
    if len(groups) < 2:
        return "fewer than two groups"
    if any(len(group) < RUNS_MIN for group in groups):
        return "fewer than two runs"
    if means and not all(np.isfinite(group).all() for group in groups):
        return "a load timed out, so there is no mean"
    return ""
