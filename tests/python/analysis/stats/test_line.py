"""A line's slope, its error and what it foretells, by plain matrices and by leaving points out."""

import numpy as np
import pytest
from scipy.stats import t as student

from eyelevel.analysis.stats.line import POINTS_MIN, fit_line


def points(n=14, seed=5):
    draw = np.random.Generator(np.random.PCG64(seed))
    x = draw.gamma(2.0, 3.0, n)
    return x, 1.5 - 0.4 * x + 0.3 * x * draw.standard_normal(n)  # the spread grows along the line


def hc3(x, y):
    """MacKinnon and White 1985: (X'X)^-1 X' diag(e^2 / (1 - h)^2) X (X'X)^-1."""
    design = np.column_stack([np.ones_like(x), x])
    inverse = np.linalg.inv(design.T @ design)
    slopes = inverse @ design.T @ y
    leverage = np.diag(design @ inverse @ design.T)
    scaled = ((y - design @ slopes) / (1 - leverage)) ** 2
    covariance = inverse @ design.T @ np.diag(scaled) @ design @ inverse
    return slopes[1], np.sqrt(covariance[1, 1])


def test_the_interval_is_student_s_of_the_error_hc3():
    x, y = points()
    slope, error = hc3(x, y)
    reach = student.ppf(0.975, len(x) - 2) * error
    found = fit_line(x, y).slope
    assert found.value == pytest.approx(slope)
    assert (found.low, found.high) == pytest.approx((slope - reach, slope + reach))
    assert found.p == pytest.approx(2 * student.sf(abs(slope) / error, len(x) - 2))


def test_held_out_is_each_point_foretold_by_the_others():
    x, y = points()
    of_line, of_mean = [], []
    for left_out in range(len(x)):
        others = np.arange(len(x)) != left_out
        foretold = np.polyval(np.polyfit(x[others], y[others], 1), x[left_out])
        of_line.append(y[left_out] - foretold)
        of_mean.append(y[left_out] - y[others].mean())
    line = fit_line(x, y)
    assert line.r_squared_held_out == pytest.approx(1 - np.sum(np.square(of_line)) / np.sum(
        np.square(of_mean)))  # fmt: skip
    assert line.r_squared == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2)


def test_a_line_that_foretells_worse_than_the_mean_is_below_zero():
    draw = np.random.Generator(np.random.PCG64(1))
    x, y = draw.standard_normal(8), draw.standard_normal(8)
    assert fit_line(x, y).r_squared > 0 > fit_line(x, y).r_squared_held_out


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        (range(POINTS_MIN - 1), range(POINTS_MIN - 1), "4 sites are too few"),
        ([1] * 6, range(6), "do not differ in it"),
        ([0] * 5 + [1], range(6), "but for one site"),
        (range(6), range(6), "no spread"),
    ],
)
def test_what_has_no_line_says_why(x, y, reason):
    line = fit_line(list(x), list(y))
    assert reason in line.slope.reason and line.slope.low is None
    assert line.r_squared_held_out is None
