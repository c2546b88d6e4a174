"""Loads that timed out: counted, compared exactly, and what a mean takes them for."""

import math

import numpy as np
import pytest
from scipy import special, stats

from eyelevel.analysis.stats.censoring import (
    sign_sequence_p,
    timeouts,
    timeouts_so_far,
    up_to_limit,
)
from eyelevel.analysis.stats.paired_gains import difference_over_sites, geometric_gain

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
    assert timeouts(x, r, [60.0]).too_many.startswith("2 of 9 loads did not finish")


def test_each_site_has_its_own_limit_and_a_lost_block_none():
    found = up_to_limit([[1.0, LATE], [math.nan, LATE]], [60.0, 90.0])
    assert found.tolist() == [[1.0, 60.0], [pytest.approx(math.nan, nan_ok=True), 90.0]]
    assert up_to_limit([1.0, LATE], 60.0).tolist() == [1, 60]
    assert math.isinf(up_to_limit([LATE], math.inf)[0])


def test_the_least_p_is_that_of_signs_all_alike():
    x, r = np.ones((2, 9)), np.ones((2, 9))
    x[0, :6] = LATE
    found = timeouts(x, r, [60.0] * 2)
    assert found.p == found.p_least == 2 / 2**6
    r[1, 0] = LATE  # its repetition differs no more
    assert timeouts(x, r, [60.0] * 2).p_least == 2 / 2**5
    assert timeouts(r, r, [60.0] * 2).p_least is None


def test_the_sequences_p_is_the_inverse_of_the_mixtures_martingale():
    for k, n, prior in ((9, 9, 0.05), (7, 10, 0.5), (0, 4, 1.0)):
        mixture = 2**n * stats.betabinom.pmf(k, n, prior, prior) / special.comb(n, k)
        assert sign_sequence_p(k, n - k, prior) == pytest.approx(min(1.0, 1 / mixture))
        assert sign_sequence_p(n - k, k, prior) == sign_sequence_p(k, n - k, prior)


def test_the_sequence_holds_its_level_at_every_look():
    draw = np.random.Generator(np.random.PCG64(7))
    signs = (draw.random((4000, 60)) < 0.5).cumsum(axis=1)
    smallest = np.ones(len(signs))
    for n in range(1, 61):
        p = np.array([sign_sequence_p(k, n - k) for k in range(n + 1)])
        smallest = np.minimum(smallest, p[signs[:, n - 1]])
    assert (smallest <= 0.05).mean() <= 0.05 and (smallest <= 0.005).mean() <= 0.005


def test_a_quarter_against_none_is_found_in_ten_repetitions_of_ten_sites():
    draw = np.random.Generator(np.random.PCG64(5))
    found = 0
    for _ in range(200):
        x = np.where(draw.random((10, 10)) < 0.25, LATE, 1.0)
        found += timeouts_so_far(x, np.ones((10, 10)), [60.0] * 10).p <= 0.005
    assert found >= 170
