"""Straight lines through points: a slope with its interval, and the line's predictive value."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from eyelevel.analysis.stats.estimate import (
    CONFIDENCE,
    Estimate,
    are_too_few,
    t_estimate,
    undetermined,
)

POINTS_MIN = 5  # with fewer the slope's own error has too few degrees of freedom


@dataclass(frozen=True)
class Line:
    """A fitted line: its slope, and the shares of variance that it explains.

    `r_squared`: of y's variance. `r_squared_held_out`: of points that the line was not fitted to;
    it is below zero if the line predicts them worse than the mean of the others.
    """

    slope: Estimate
    r_squared: float | None = None
    r_squared_held_out: float | None = None


def fit_line(x: ArrayLike, y: ArrayLike, confidence: float = CONFIDENCE) -> Line:
    """Fit y on x by least squares; both have one length and are finite.

    The slope's interval is Student's t with n - 2 degrees of freedom and the error HC3 (MacKinnon
    and White, Journal of Econometrics 29, 1985), which allows for unequal spread along the line.
    Each point in turn is held out: 1 - PRESS / the same of the mean of the others (Allen,
    Technometrics 16, 1974). Assumes independent points. Undetermined below POINTS_MIN points, and
    if x or y is constant or x is so without one point. R: `sandwich::vcovHC(type = "HC3")`.
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
