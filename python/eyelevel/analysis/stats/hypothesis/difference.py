"""The result of a test of `no difference`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from eyelevel.analysis.stats.estimate import Floats

RUNS_MIN = 2  # fewer show no spread


@dataclass(frozen=True)
class DifferenceTest:
    """A test statistic and its p value; both None, with the reason, if there is no test."""

    statistic: float | None = None
    p: float | None = None
    degrees_of_freedom: tuple[float, ...] = ()
    reason: str = ""

    @property
    def determined(self) -> bool:
        """Whether there is a p value."""
        return self.p is not None


def test_result(
    statistic: float, p: float, degrees_of_freedom: tuple[float, ...] = ()
) -> DifferenceTest:
    """Return a test's result; undetermined if a library returned not-a-number."""
    if not (math.isfinite(statistic) and math.isfinite(p)):
        return DifferenceTest(reason="the test gave no number")
    return DifferenceTest(float(statistic), float(p), degrees_of_freedom)


def as_groups(groups: Sequence[ArrayLike]) -> list[Floats]:
    """Return the groups as arrays. Raises ValueError for missing values: callers drop them."""
    arrays = [np.asarray(group, dtype=float) for group in groups]
    if any(np.isnan(group).any() for group in arrays):
        raise ValueError("drop runs without a value first")
    return arrays


def why_untestable(groups: list[Floats], means: bool) -> str:
    """Return why these groups cannot be compared, or ""; `means`: by a test of means."""
    if len(groups) < 2:
        return "fewer than two groups"
    if any(len(group) < RUNS_MIN for group in groups):
        return "fewer than two runs"
    if means and not all(np.isfinite(group).all() for group in groups):
        return "a load timed out, so there is no mean"
    return ""
