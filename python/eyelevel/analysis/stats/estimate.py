"""The results of this package's computations, and the arithmetic that their t intervals share."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from eyelevel.base.json_types import JsonMapping

UNDETERMINED = "undetermined"
INFINITE = "it is infinite, as a timeout is"

CONFIDENCE = 0.95
SIGNIFICANCE_LEVEL = 0.05
POWER = 0.8
ROUNDING = 1e-12  # relative errors below it are rounding

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A value with its two-sided confidence interval and p value against zero.

    Each is None if it is unknown; `reason` has the explanation, in words for a report. `n` is the
    number of pairs (or of sites, if sites are averaged).
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

    @property
    def excludes_zero(self) -> bool:
        """Whether the whole interval lies on one side of zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    def as_json(self) -> dict[str, float | str | None]:
        """Return the JSON form of estimates; undetermined and infinite numbers are null."""
        numbers = {name: _finite(getattr(self, name)) for name in ("value", "low", "high", "p")}
        infinite = INFINITE if self.value is not None and numbers["value"] is None else None
        return {**numbers, "undetermined_because": self.reason or infinite}

    @classmethod
    def of_json(cls, fields: JsonMapping) -> Self:
        """Return the estimate of a JSON object, as far as `as_json` stores it."""
        numbers = {name: fields[name] for name in ("value", "low", "high", "p")}
        return cls(**numbers, reason=fields["undetermined_because"] or "")

    def as_columns(self, name: str) -> dict[str, float | str | None]:
        """Return the estimate as columns of a table: `name`, `name_low`, `name_high` and so on."""
        fields = self.as_json()
        return {name: fields.pop("value"), **{f"{name}_{key}": fields[key] for key in fields}}


def _finite(number: float | None) -> float | None:
    """Return None for infinity, which JSON does not have."""
    return number if number is None or math.isfinite(number) else None


def undetermined(reason: str, n: int = 0, value: float | None = None) -> Estimate:
    """Return an estimate without an interval (and by default without a value), and why."""
    return Estimate(value=value, n=n, reason=reason)


def are_too_few(n: int, noun: str = "block") -> str:
    """Return `3 blocks are too few`, with the verb in the right number."""
    return f"1 {noun} is too few" if n == 1 else f"{n} {noun}s are too few"


def as_pairs(values: ArrayLike, reference: ArrayLike) -> tuple[Floats, Floats]:
    """Return two arrays of one length. Raises ValueError if their shapes differ."""
    x, r = np.asarray(values, dtype=float), np.asarray(reference, dtype=float)
    if x.shape != r.shape or x.ndim != 1:
        raise ValueError(f"runs come in pairs: got shapes {x.shape} and {r.shape}")
    return x, r


def t_estimate(
    value: float, error: float, freedom: float, n: int, confidence: float = CONFIDENCE
) -> Estimate:
    """Return the value with Student's t interval and p value; `error` is its standard error."""
    reach = float(scipy.special.stdtrit(freedom, 0.5 + confidence / 2)) * error
    p = 2 * float(scipy.special.stdtr(freedom, -abs(value) / error))
    return Estimate(value, value - reach, value + reach, p, error, freedom, n)


def welch_estimate(values: Sequence[float], reference: Sequence[float]) -> Estimate:
    """Return the difference of means, values - reference, with Welch's t interval.

    Both need at least two values, independent and about normal; without spread the interval is the
    value.
    """
    sides = (values, reference)
    difference = statistics.fmean(values) - statistics.fmean(reference)
    variances = [statistics.variance(side) / len(side) for side in sides]
    n, error = min(map(len, sides)), math.sqrt(sum(variances))
    if error == 0.0:
        return Estimate(difference, difference, difference, n=n)
    freedom = sum_freedom(variances, [len(side) - 1 for side in sides])
    return t_estimate(difference, error, freedom, n)


def sum_freedom(variances: Sequence[float], freedoms: Sequence[float]) -> float:
    """Return the degrees of freedom of a sum of independent variances, which is above 0.

    Satterthwaite, Biometrics Bulletin 2, 1946; Welch, Biometrika 34, 1947.
    """
    weighted = (v**2 / f for v, f in zip(variances, freedoms, strict=True))
    return math.fsum(variances) ** 2 / math.fsum(weighted)


def detectable_effect(
    standard_error: float,
    degrees_of_freedom: float,
    significance_level: float = SIGNIFICANCE_LEVEL,
    power: float = POWER,
) -> float:
    """Return the true effect that a two-sided t test with this error finds with chance `power`.

    By the noncentral t, on the right side alone (R: `power.t.test`).
    """
    limit = scipy.special.stdtrit(degrees_of_freedom, 1 - significance_level / 2)
    shift = scipy.special.nctdtrinc(degrees_of_freedom, 1 - power, limit)
    return float(shift) * standard_error
