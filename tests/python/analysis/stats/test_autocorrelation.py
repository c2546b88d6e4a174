"""The lag-1 autocorrelation of differences: its exact p, its interval, and what it can see."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from eyelevel.analysis.stats.autocorrelation import drift, lag_one, noticed_share


def random(seed):
    return np.random.Generator(np.random.PCG64(seed))


def of_order(d):
    """The pooled coefficient by its definition, each comparison by its own variance."""
    z = (d - d.mean(axis=1, keepdims=True)) / d.std(axis=1, keepdims=True)
    return float((z[:, 1:] * z[:, :-1]).sum() / np.square(z).sum())


@pytest.mark.parametrize("repetitions", [5, 6])
def test_p_is_the_share_of_all_orders_with_as_much_likeness(repetitions):
    d = random(1).normal(size=(3, repetitions)) * np.array([[1], [5], [0.1]])
    found = lag_one(d)
    every = [of_order(d[:, list(order)]) for order in permutations(range(repetitions))]
    assert found.p == pytest.approx(np.mean(np.array(every) >= of_order(d) - 1e-9))
    assert found.value == pytest.approx(of_order(d) - np.mean(every))
    assert np.mean(every) == pytest.approx(-1 / repetitions)
    reach = stats.norm.ppf(0.975) * np.std(every)
    assert found.high == pytest.approx(min(1, found.value + reach))
    assert found.low == pytest.approx(max(-1, found.value - reach))


def test_drawn_orders_agree_with_others_that_are_drawn():
    d = random(2).normal(size=(2, 12)).cumsum(axis=1) * 0.3 + random(3).normal(size=(2, 12))
    draw = random(5)
    drawn = [of_order(d[:, draw.permutation(12)]) for _ in range(2000)]
    found = lag_one(d)
    assert found.p == pytest.approx(np.mean(np.array(drawn) >= of_order(d)), abs=0.05)
    assert found.standard_error == pytest.approx(np.std(drawn), rel=0.1)


def test_neighbours_that_are_alike_are_seen_and_their_mirror_is_not():
    slow = np.arange(12.0)[None] + 0.1 * random(6).normal(size=(1, 12))
    assert lag_one(slow).p < 0.001 and lag_one(slow).low > 0
    assert lag_one(np.tile([[1.0, -1.0]], 6)).p > 0.99
    assert lag_one(slow[:, ::-1]).p == pytest.approx(lag_one(slow).p, abs=0.005)


def test_lost_blocks_and_comparisons_without_spread_count_for_nothing():
    d = random(7).normal(size=(3, 12)).cumsum(axis=1)
    expected = lag_one(d)
    without = np.vstack([d, np.full((1, 12), 3.0), np.full((1, 12), np.nan)])
    assert lag_one(without).value == pytest.approx(expected.value)
    d[0, 4] = np.nan
    assert lag_one(d).p < 0.05
    lost = np.insert(d, 3, np.nan, axis=1)
    assert lag_one(lost) == lag_one(d)


def test_too_few_blocks_and_no_spread_say_so():
    assert lag_one(random(8).normal(size=(2, 4))).reason == (
        "4 blocks are too few to see a drift in"
    )
    assert "no spread" in lag_one(np.ones((2, 9))).reason
    assert noticed_share(4, 2, ((1, 0),), 1) == 0


def test_few_blocks_hardly_see_a_drift_and_many_see_some():
    shares = [noticed_share(n, 2, ((1, 0),), 1) for n in (5, 10, 31, 60, 400)]
    assert shares == sorted(shares)
    assert shares[1] < 0.12 and shares[-1] > 0.7


def test_a_drift_falls_to_one_part_in_e_within_its_length():
    values = drift((4000, 12), random(9))
    likeness = [np.mean(values[:, 0] * values[:, place]) for place in (0, 5)]
    assert likeness == pytest.approx([1, np.exp(-1)], abs=0.06)
