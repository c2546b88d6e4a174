"""The moderated error of a gain, against the classical analysis of a randomised block design."""

import math

import numpy as np
import pytest
from scipy import stats

from eyelevel.analysis.stats.estimate import Estimate, undetermined
from eyelevel.analysis.stats.paired_gains import difference_over_sites, geometric_gain, log_gain
from eyelevel.analysis.stats.pooled import (
    DISAGREES,
    Pool,
    beside_gain,
    estimate_pooled_difference,
    estimate_pooled_gain,
    estimate_pooled_log_gain,
    pool_of,
)

NAMES = "abcdef"


def logs_of(stacks, blocks, sites=2, seed=1):
    draw = np.random.Generator(np.random.PCG64(seed))
    values = 0.1 * draw.standard_normal((stacks, sites, blocks)) + draw.normal(size=(1, sites, 1))
    return dict(zip(NAMES, values + 0.3 * draw.normal(size=(1, 1, blocks)), strict=False))


def found_of(logs, stack="b", reference="a"):
    return estimate_pooled_log_gain(np.exp(logs[stack]), np.exp(logs[reference]), pool_of(logs))


def block_design(logs):
    """Residual sum of squares and degrees of freedom, by least squares on stacks and blocks."""
    means = np.array([values.mean(axis=0) for values in logs.values()])
    stacks, blocks = means.shape
    rows = [np.r_[np.eye(stacks)[t], np.eye(blocks)[b]] for t in range(stacks)
            for b in range(blocks)]  # fmt: skip
    design, y = np.array(rows), means.ravel()
    fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return float(((y - fitted) ** 2).sum()), len(y) - int(np.linalg.matrix_rank(design))


def test_three_blocks_of_three_stacks_are_the_randomised_block_design():
    logs = logs_of(3, 3)
    found, (squares, freedom) = found_of(logs), block_design(logs)
    assert found.degrees_of_freedom == freedom == 4
    value = float((logs["b"] - logs["a"]).mean())
    error = math.sqrt(2 * squares / freedom / 3)
    low, high = stats.t.interval(0.95, 4, value, error)
    assert [found.value, found.low, found.high] == pytest.approx([value, low, high])
    assert found.p == pytest.approx(2 * stats.t.sf(abs(value) / error, 4))
    assert pool_of(logs).variance == pytest.approx(2 * squares / freedom)


@pytest.mark.parametrize(("stacks", "blocks"), [(3, 8), (4, 6), (6, 3)])
def test_the_other_stacks_count_as_two_further_degrees_of_freedom(stacks, blocks):
    logs = logs_of(stacks, blocks)
    squares, freedom = block_design(logs)
    own = np.var((logs["b"] - logs["a"]).mean(axis=0), ddof=1) / 2
    others = (squares - own * (blocks - 1)) / (freedom - (blocks - 1))
    moderated = ((blocks - 1) * own + 2 * others) / (blocks + 1)
    found = found_of(logs)
    assert found.degrees_of_freedom == blocks + 1
    assert found.standard_error == pytest.approx(math.sqrt(2 * moderated / blocks))


def test_two_blocks_have_no_more_to_borrow_than_there_is():
    assert found_of(logs_of(3, 2)).degrees_of_freedom == 2


def test_the_gain_is_that_of_the_two_stacks_with_another_error():
    logs = logs_of(4, 5)
    pair = np.exp(logs["b"]), np.exp(logs["a"])
    found, alone = estimate_pooled_gain(*pair, pool_of(logs)), geometric_gain(*pair)
    assert found.value == alone.value and found.n == alone.n and found != alone
    on_log = found_of(logs)
    assert [found.low, found.high] == pytest.approx(
        [math.expm1(on_log.low), math.expm1(on_log.high)]
    )
    assert found.standard_error == pytest.approx(on_log.standard_error * (1 + found.value))
    assert estimate_pooled_gain(*pair, None) == alone


def test_a_load_that_timed_out_gives_its_stack_an_error_of_its_own():
    logs = logs_of(4, 5)
    expected = pool_of({name: logs[name] for name in "abc"})
    logs["d"][0, 2] = math.inf
    assert pool_of(logs) == expected
    assert expected.shared_by("a", "b") and not expected.shared_by("d", "b")
    logs["c"][1, 1] = -math.inf  # a value of 0
    assert pool_of(logs) is None


def test_lost_loads_cost_a_pool_little_and_a_stack_without_two_blocks_its_place():
    logs = logs_of(4, 40)
    whole = pool_of(logs)
    for name, place in zip("abcd", (3, 7, 9, 30), strict=True):
        logs[name][1, place] = math.nan
    found = pool_of(logs)
    assert found.variance == pytest.approx(whole.variance, rel=0.1)
    assert found.freedom == pytest.approx(whole.freedom, rel=0.1)
    assert found_of(logs).standard_error == pytest.approx(
        log_gain(np.exp(logs["b"]), np.exp(logs["a"])).standard_error, rel=0.1
    )
    logs["d"][0, 1:] = math.nan
    assert pool_of(logs).members == frozenset("abc")


def test_others_that_scatter_less_than_nothing_take_no_part_of_the_own_error_away():
    """Where loads are lost, what is beside the pair is no sum of squares."""
    logs = logs_of(3, 4)
    pair = np.exp(logs["b"]), np.exp(logs["a"])
    own = log_gain(*pair)
    found = estimate_pooled_log_gain(*pair, Pool(frozenset("abc"), 0.0, 3.0))
    assert found.standard_error == pytest.approx(own.standard_error * math.sqrt(3 / 5))


def test_what_has_no_error_borrows_none():
    logs = logs_of(3, 3)
    one = np.full((1, 1), 2.0)
    assert estimate_pooled_log_gain(one, one / 2, pool_of(logs)) == log_gain(one, one / 2)


def test_the_difference_borrows_what_others_scatter_at_its_own_times():
    """Compare with the residuals of a block design weighted by the sites' mean times."""
    logs = logs_of(4, 5, sites=3, seed=2)
    b, a = pair = np.exp(logs["b"]), np.exp(logs["a"])
    times = (b.mean(axis=1) + a.mean(axis=1))[:, None] / 2
    weighted = {name: values * times for name, values in logs.items()}
    squares, freedom = block_design(weighted)
    of_pair = np.var((weighted["b"] - weighted["a"]).mean(axis=0), ddof=1) / 2
    others = 2 * (squares - of_pair * 4) / (freedom - 4)
    own = np.var((b - a).mean(axis=0), ddof=1)
    found = estimate_pooled_difference(*pair, pool_of(logs))
    assert found.value == pytest.approx(float((b - a).mean()))
    assert found.degrees_of_freedom == 6
    assert found.standard_error == pytest.approx(math.sqrt((4 * own + 2 * others) / 6 / 5))
    slower = tuple(1000 * side for side in pair)
    other_unit = {name: values + math.log(1000) for name, values in logs.items()}
    assert estimate_pooled_difference(*slower, pool_of(other_unit)).low == pytest.approx(
        1000 * found.low
    )


def test_the_difference_without_a_pool_is_that_of_its_own_two_stacks():
    logs = logs_of(3, 4)
    pair = np.exp(logs["b"]), np.exp(logs["a"])
    assert estimate_pooled_difference(*pair, None) == difference_over_sites(*pair)
    lost = np.full((1, 1), 2.0)
    assert estimate_pooled_difference(lost, lost / 2, pool_of(logs)) == difference_over_sites(
        lost, lost / 2
    )


@pytest.mark.parametrize(
    ("gain", "difference", "shown"),
    [
        ((-0.2, -0.1), (-90.0, -10.0), True),
        ((-0.2, 0.1), (-90.0, 10.0), True),
        ((-0.2, -0.1), (-90.0, 10.0), False),
        ((-0.2, 0.1), (-90.0, -10.0), False),
        ((-0.2, -0.1), (10.0, 90.0), True),  # what both leave no doubt of is no contradiction
    ],
)
def test_a_difference_has_an_interval_only_where_the_gain_is_as_clear(gain, difference, shown):
    of_gain = Estimate(sum(gain) / 2, *gain)
    beside = Estimate(sum(difference) / 2, *difference, n=7)
    found = beside_gain(beside, of_gain)
    assert found == (beside if shown else undetermined(DISAGREES, 7, beside.value))
    assert beside_gain(beside, undetermined("too late")) == beside
