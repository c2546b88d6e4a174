"""What a computation of this package answers: numbers, or why there are none."""

from dataclasses import dataclass

UNDETERMINED = "undetermined"


@dataclass(frozen=True)
class Estimate:
    """A value with its two-sided confidence interval and p value against zero.

    Each is None where it cannot be known; `reason` then says why, in words for a report. `n` is the
    number of pairs (or of sites, where sites are averaged).
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    standard_error: float | None = None
    degrees_of_freedom: float | None = None
    n: int = 0
    reason: str = ""

    @property
    def determined(self) -> bool:
        """Whether there is a value with an interval."""
        return self.value is not None and self.low is not None


def undetermined(reason: str, n: int = 0, value: float | None = None) -> Estimate:
    """An estimate without an interval (and by default without a value), and why."""
    return Estimate(value=value, n=n, reason=reason)
