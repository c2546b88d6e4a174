import math

import numpy as np
import pytest

from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.stats.paired_gains import (
    harm,
    harm_of_gain,
    performance_gain,
    ratio_over_sites,
)


def test_the_gain_is_relative_to_the_references_mean():
    assert performance_gain([80, 100], [100, 100]).value == pytest.approx(-0.1)


def test_the_interval_by_hand():
    # Ratio 1; residuals -10, 0, 10, deviation 10; error 10 / sqrt(3) / 100; t(0.975, 2) = 4.302653
    found = performance_gain([90, 100, 110], [100, 100, 100])
    assert found.value == pytest.approx(0)
    assert found.high == pytest.approx(4.302653 * 0.1 / math.sqrt(3), rel=1e-6)
    assert found.low == pytest.approx(-found.high)
    assert found.p == pytest.approx(1)


def test_a_shared_disturbance_of_a_block_cancels():
    found = performance_gain([90, 180.001, 270], [100, 200, 300])
    assert found.value == pytest.approx(-0.1, abs=1e-5)
    assert found.high - found.low < 1e-4


def test_the_interval_covers_the_truth_as_often_as_it_says():
    draw = np.random.Generator(np.random.PCG64(5))
    covered = 0
    for _ in range(2000):
        reference = draw.normal(1000, 50, 5)
        found = performance_gain(0.9 * draw.normal(1000, 50, 5), reference)
        covered += found.low <= -0.1 <= found.high
    assert 0.935 <= covered / 2000 <= 0.965  # 0.95 and three standard errors


def test_no_interval_reaches_below_a_load_time_of_nothing():
    found = performance_gain([50, 100], [200, 100])
    assert found.low == -1 and found.high > 0


def test_a_timeout_leaves_no_mean():
    found = performance_gain([80, math.inf, 90], [100, 100, 100])
    assert found.value is None and "timed out" in found.reason


def test_one_block_has_a_value_but_no_interval():
    found = performance_gain([80], [100])
    assert found.value == pytest.approx(-0.2) and not found.determined


@pytest.mark.parametrize(("x", "r"), [([], []), ([1, 2], [0, 0])])
def test_what_cannot_be_done_is_undetermined(x, r):
    assert performance_gain(x, r).value is None


def test_equal_runs_have_no_interval_of_width_zero():
    assert not performance_gain([80, 80], [100, 100]).determined


def test_lengths_that_differ_are_a_mistake():
    with pytest.raises(ValueError, match="in pairs"):
        performance_gain([1], [1, 2])


def test_the_mean_over_sites_by_hand():
    # Ratios 0.9 and 1.2, gains -0.1 and 0.2. Residuals over the reference's mean: (90 - 90) / 100,
    # ... of one site -0.1, 0, 0.1, of the other 0.2, 0, -0.2; means over sites 0.05, 0, -0.05.
    found = ratio_over_sites([[80, 90, 100], [280, 240, 200]], [[100] * 3, [200] * 3])
    assert found.value == pytest.approx(0.05)
    assert found.standard_error == pytest.approx(0.05 / math.sqrt(3))
    assert (found.degrees_of_freedom, found.n) == (2, 3)


def test_one_site_keeps_its_own_interval():
    runs = [90, 99, 111], [100, 102, 99]
    one, found = performance_gain(*runs), ratio_over_sites(*runs)
    for name in ("value", "low", "high", "p", "standard_error"):
        assert getattr(found, name) == pytest.approx(getattr(one, name)), name


def test_a_site_without_a_block_of_a_repetition_counts_by_those_that_it_has():
    nan = math.nan
    found = ratio_over_sites([[80, 90, 100], [240, nan, 240]], [[100] * 3, [200, 200, nan]])
    assert found.value == pytest.approx((-0.1 + 0.2) / 2) and not found.determined
    assert not ratio_over_sites([[80, 90], [nan, 1]], [[100, 100], [1, nan]]).n > 2


@pytest.mark.parametrize(
    ("values", "reference", "said"),
    [
        ([[1, 2], [math.inf, 1]], [[1, 1], [1, 1]], "timed out"),
        ([[1, 2], [1, 1]], [[1, 1], [0, 0]], "not above zero"),
        ([[1, 2], [math.nan, 1]], [[1, 1], [1, math.nan]], "no complete block"),
    ],
)
def test_one_undetermined_site_makes_the_mean_undetermined(values, reference, said):
    found = ratio_over_sites(values, reference)
    assert found.value is None and said in found.reason


def test_harm_is_the_share_of_the_time_that_cross_traffic_added():
    found = harm([200.0, 210.0, 190.0], [100.0, 100.0, 100.0])
    assert found.value == pytest.approx(0.5)
    assert found.low is not None and found.high is not None
    assert 0.4 < found.low < 0.5 < found.high < 0.6


def test_harm_is_the_gain_of_the_loads_alone_from_the_other_side():
    found = harm_of_gain(Estimate(-0.3, -0.4, 0.1, 0.02, 0.05, 4.0, 5))
    assert (found.value, found.low, found.high, found.p) == (0.3, -0.1, 0.4, 0.02)
