"""Loads that timed out: counted, compared exactly, and what a mean takes them for."""

import math

import numpy as np
import pytest
from scipy import stats

from eyelevel.stats.late.timeouts import timeouts, up_to_limit
from eyelevel.stats.repetitions import difference_over_sites, geometric_gain

LATE = math.inf


def test_both_stacks_are_counted_and_lost_blocks_are_not():
    x = [[1.0, LATE, LATE], [LATE, 1.0, math.nan]]
    r = [[1.0, 1.0, math.nan], [1.0, LATE, LATE]]
    found = timeouts(x, r, [60.0, 90.0])
    assert (found.count, found.count_reference, found.pairs) == (2, 1, 4)
    assert (found.limit_min, found.limit_max) == (60, 90)


def test_of_one_site_the_test_is_mcnemars():
    x, r = np.ones(20), np.ones(20)
    x[:9], r[8:10] = LATE, LATE
    expected = stats.binomtest(8, 9, 0.5).pvalue
    assert timeouts(x, r, [60.0]).p == pytest.approx(expected)
    assert timeouts(x, x, [60.0]).p is None


def test_a_busy_minute_over_all_sites_is_one_event():
    x, r = np.ones((10, 8)), np.ones((10, 8))
    x[:, 3] = LATE
    assert timeouts(x, r, [60.0] * 10).p == 1


def test_timeouts_of_one_stack_make_the_mean_a_bound():
    x, r = np.ones(9), np.ones(9)
    assert timeouts(x, r, [60.0]).bound == ""
    x[0] = LATE
    assert (timeouts(x, r, [60.0]).bound, timeouts(r, x, [60.0]).bound) == ("at least", "at most")
    r[1] = LATE
    assert timeouts(x, r, [60.0]).bound == "either way"


def test_a_longer_limit_shows_that_it_is_one():
    draw = np.random.Generator(np.random.PCG64(1))
    x, r = np.exp(0.1 * draw.standard_normal((2, 4, 10)))
    x[1, 2] = LATE
    gains, differences = zip(
        *(
            (geometric_gain(*pair).value, difference_over_sites(*pair).value)
            for limit in (60.0, 600.0)
            for pair in ((up_to_limit(x, [limit] * 4), r),)
        ),
        strict=True,
    )
    assert 0 < gains[0] < gains[1] and 0 < differences[0] < differences[1]


def test_too_many_are_more_than_one_and_than_a_fifth_of_either_stacks():
    for late, loads, said in ((1, 2, False), (2, 10, False), (3, 14, True), (2, 9, True)):
        x, r = np.ones(loads), np.ones(loads)
        x[:late] = LATE
        for pair in ((x, r), (r, x)):
            assert bool(timeouts(*pair, [60.0]).too_many) == said
    assert timeouts(x, r, [60.0]).too_many.startswith("2 of 9 loads timed out")


def test_each_site_has_its_own_limit_and_a_lost_block_none():
    found = up_to_limit([[1.0, LATE], [math.nan, LATE]], [60.0, 90.0])
    assert found.tolist() == [[1.0, 60.0], [pytest.approx(math.nan, nan_ok=True), 90.0]]
    assert up_to_limit([1.0, LATE], 60.0).tolist() == [1, 60]
    assert math.isinf(up_to_limit([LATE], math.inf)[0])
