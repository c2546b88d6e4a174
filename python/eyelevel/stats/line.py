"""Straight lines through points: a slope with its interval, and what the line foretells."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from eyelevel.stats.estimate import CONFIDENCE, Estimate, are_too_few, t_estimate, undetermined

POINTS_MIN = 5  # fewer leave the slope's own error too few degrees of freedom to be told


@dataclass(frozen=True)
class Line:
    """`r_squared`: the share of y's variance; `r_squared_held_out`: of points that the line was not
    fitted to, below zero where it foretells them worse than the mean of the others."""

    slope: Estimate
    r_squared: float | None = None
    r_squared_held_out: float | None = None


def fit_line(x: ArrayLike, y: ArrayLike, confidence: float = CONFIDENCE) -> Line:
    """Least squares of y on x, of one length; finite.

    The slope's interval is Student's t with n - 2 degrees of freedom and the error HC3 (MacKinnon
    and White, Journal of Econometrics 29, 1985), which needs no equal spread along the line. Held
    out is each point in turn: 1 - PRESS / the same of the mean of the others (Allen, Technometrics
    16, 1974). Assumes points that are independent. Undetermined below POINTS_MIN points, and where
    x or y is the same everywhere or x is so without one point. R: `sandwich::vcovHC(type = "HC3")`.
    """
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    n = len(a)
    if n < POINTS_MIN:
        return Line(undetermined(f"{are_too_few(n, 'site')}: a line needs {POINTS_MIN}", n))
    centred, spread = a - a.mean(), b - b.mean()
    total, around = float(centred @ centred), float(spread @ spread)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return Line(undetermined("the sites do not differ in it", n))
    slope = float(centred @ spread) / total
    residuals = spread - slope * centred
    kept = 1 - (1 / n + centred**2 / total)
    if kept.min() < 1e-9:
        return Line(undetermined("but for one site they do not differ in it", n, slope))
    held_out = residuals / kept
    error = float(np.sqrt(np.sum((centred * held_out) ** 2))) / total
    if error <= 0:
        return Line(undetermined("the points show no spread", n, slope))
    of_mean = spread * n / (n - 1)
    return Line(
        t_estimate(slope, error, n - 2.0, n, confidence),
        1 - float(residuals @ residuals) / around,
        1 - float(held_out @ held_out) / float(of_mean @ of_mean),
    )
