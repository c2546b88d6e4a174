import math
import warnings

import numpy as np
import pytest

from eyelevel.analysis.stats.quantile_gain import blocks_to_decide, one_block_error, quantile_gain

SPREAD = np.arange(100.0, 112.0)
ZERO, LATE = np.zeros(12), np.full(12, math.inf)


def gain(x, r):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy's would go to a user's terminal
        return quantile_gain(x, r, 0.5)


@pytest.mark.parametrize("x", [ZERO, SPREAD])
def test_a_reference_of_zero_has_no_ratio(x):
    found = gain(x, ZERO)
    assert found.value is None and found.reason == "the reference's quantile is 0"


def test_a_reference_that_may_be_zero_where_it_is_drawn_again():
    often = np.where(np.arange(12) < 5, 0.0, SPREAD)
    assert gain(often, often).reason == "both stacks' quantiles may be 0"
    found = gain(2 * SPREAD, often)
    assert 0 < found.low < found.high == math.inf


def test_a_stack_whose_every_load_timed_out_is_slower_for_sure():
    for reference in (SPREAD, ZERO):
        found = gain(LATE, reference)
        assert (found.value, found.low, found.high) == (math.inf, math.inf, math.inf)
    assert gain(LATE, LATE).reason == "both stacks' quantiles are timeouts"


def test_a_reference_whose_every_load_timed_out_is_slower_for_sure():
    found = gain(SPREAD, LATE)
    assert (found.value, found.low, found.high) == (-1, -1, -1)


def test_runs_without_spread_have_no_interval():
    found = gain(np.full(12, 90.0), np.full(12, 100.0))
    assert found.value == pytest.approx(-0.1) and found.low is None


def loads(draw, sites, blocks, slower=0.0, sd=0.3, shared=0.0):
    noise = draw.standard_normal((sites, blocks)) + shared * draw.standard_normal(blocks)
    return (1 + slower) * np.exp(sd * noise)


def test_the_gain_is_the_geometric_mean_over_sites():
    reference = np.stack([SPREAD, SPREAD + 50])
    found = quantile_gain(reference * [[2.0], [8.0]], reference, 0.5)
    assert found.value == pytest.approx(3.0)


def test_a_site_may_lack_a_repetition():
    draw = np.random.Generator(np.random.PCG64(1))
    x, r = (loads(draw, 2, 12) for _ in "xr")
    whole = quantile_gain(x, r, 0.5)
    x[0, 3] = np.nan
    found = quantile_gain(x, r, 0.5)
    assert (found.n, whole.n) == (11, 12) and found.determined
    x[0] = np.nan
    assert quantile_gain(x, r, 0.5).reason == "no complete block is left"


@pytest.mark.parametrize(("share", "blocks"), [(0.5, 6), (0.75, 8), (0.9, 20), (0.05, 40)])
def test_a_percentile_needs_two_loads_beyond_it(share, blocks):
    draw = np.random.Generator(np.random.PCG64(1))
    x, r = (loads(draw, 1, blocks) for _ in "xr")
    assert quantile_gain(x, r, share).determined
    few = quantile_gain(x[:, 1:], r[:, 1:], share)
    assert few.value is not None and few.low is None and f"it needs {blocks}" in few.reason


@pytest.mark.parametrize(
    ("share", "blocks", "sites", "shared"),
    [(0.5, 6, 1, 0.0), (0.5, 10, 10, 0.3), (0.75, 8, 1, 0.0), (0.9, 20, 1, 0.0)],
)
def test_the_interval_misses_no_more_than_promised(share, blocks, sites, shared):
    draw = np.random.Generator(np.random.PCG64(6))
    gains = [
        quantile_gain(*(loads(draw, sites, blocks, 0.0, 0.3, shared) for _ in "xr"), share)
        for _ in range(150)
    ]
    missed = np.mean([not each.low <= 0 <= each.high for each in gains])
    assert missed <= 0.07


def test_the_named_blocks_decide_as_often_as_promised():
    draw = np.random.Generator(np.random.PCG64(8))
    error = one_block_error(0.1 * math.sqrt(2), 0.5)
    blocks = blocks_to_decide(error, math.log1p(0.1), 0.5, 0.95)
    assert 35 <= blocks <= 60
    for slower, least, most in ((0.0, 0.88, 1.0), (0.2, 0.0, 0.05)):
        gains = [
            quantile_gain(loads(draw, 1, blocks, slower, 0.1), loads(draw, 1, blocks, 0, 0.1), 0.5)
            for _ in range(150)
        ]
        assert least <= np.mean([each.high < 0.1 for each in gains]) <= most
    assert blocks_to_decide(error, math.log1p(0.001), 0.5, 0.95) is None


@pytest.mark.parametrize("blocks", [10, 31])
def test_a_regression_of_four_times_the_limit_is_not_passed_for_want_of_blocks(blocks):
    draw = np.random.Generator(np.random.PCG64(2))
    gains = [
        quantile_gain(loads(draw, 1, blocks, 0.2), loads(draw, 1, blocks), 0.5) for _ in range(200)
    ]
    assert np.mean([each.high < 0.05 for each in gains]) <= 0.05
