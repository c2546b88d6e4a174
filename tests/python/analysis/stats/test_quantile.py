import math

import numpy as np
import pytest
import scipy

from eyelevel.analysis.stats.quantile import blocks_min, blocks_to_bound, quantile_interval

TEN = np.arange(1.0, 11.0)


def test_the_median_of_ten_lies_between_the_second_and_the_ninth():
    # Hahn and Meeker: 1 - 2 P(Bin(10, 1/2) <= 1) = 97.9 %; the third and eighth cover 89.1 %.
    found = quantile_interval(TEN, 0.5)
    assert (found.value, found.low, found.high, found.n) == (5.0, 2.0, 9.0, 10)


def test_a_timeout_takes_its_rank():
    found = quantile_interval([*TEN[:8], math.inf, math.inf], 0.5)
    assert (found.value, found.low, found.high) == (5.0, 2.0, math.inf)


def test_few_loads_have_no_upper_bound():
    found = quantile_interval(TEN, 0.75)
    assert found.high == math.inf and found.low == 5.0 and "too few for an upper" in found.reason
    assert quantile_interval(np.arange(13.0), 0.75).high == 12.0


@pytest.mark.parametrize("share", [0.5, 0.75, 0.9])
def test_it_covers_whatever_the_distribution(share):
    draw = np.random.Generator(np.random.PCG64(4))
    truth = -math.log(1 - share)
    found = [quantile_interval(draw.exponential(size=40), share) for _ in range(400)]
    assert np.mean([each.low <= truth <= each.high for each in found]) >= 0.94


def test_blocks_that_are_too_few_for_a_percentile():
    assert [blocks_min(each) for each in (0.5, 0.75, 0.9, 0.95, 0.99, 0.1)] == [
        4,
        8,
        20,
        40,
        200,
        20,
    ]
    found = quantile_interval(np.arange(39.0), 0.95)
    assert found.value is not None and found.low is None and "it needs 40" in found.reason


def test_the_named_blocks_bound_the_quantile_as_often_as_promised():
    draw = np.random.Generator(np.random.PCG64(4))
    blocks = blocks_to_bound(0.75, 0.95, 0.95)
    limit = scipy.stats.norm.ppf(0.95)
    found = [quantile_interval(draw.standard_normal(blocks), 0.75) for _ in range(400)]
    assert np.mean([each.high < limit for each in found]) >= 0.86
    fewer = [quantile_interval(draw.standard_normal(blocks // 2), 0.75) for _ in range(400)]
    assert np.mean([each.high < limit for each in fewer]) < 0.85
    assert blocks_to_bound(0.75, 0.75, 0.95) is None
    above = blocks_to_bound(0.5, 0.2, 0.95)
    lows = [quantile_interval(draw.random(above), 0.5).low for _ in range(400)]
    assert np.mean([low > 0.2 for low in lows]) >= 0.86
