"""One run's gain with an interval at a stated confidence."""

import math

import numpy as np
import pytest
from scipy import stats

from eyelevel.analysis.stats.paired_gains import geometric_gain
from eyelevel.analysis.stats.quantile_gain import blocks_to_part, compute_bounded_gain
from eyelevel.analysis.stats.sequential import Horizon, confidence_sequence

LIMITS = [60.0, 90.0]


def loads(gain=0.9, repetitions=12):
    draw = np.random.Generator(np.random.PCG64(3))
    x, r = np.exp(0.1 * draw.standard_normal((2, 2, repetitions)))
    return gain * x, r, LIMITS


def test_it_is_the_reports_gain_with_students_t_at_this_confidence():
    found, _ = compute_bounded_gain(loads(), 0.99)
    x, r, _ = loads()
    interval = stats.ttest_1samp(np.log(x / r).mean(axis=0), 0.0).confidence_interval(0.99)
    assert [found.low, found.high] == pytest.approx(
        [math.expm1(interval.low), math.expm1(interval.high)]
    )
    assert found.value == geometric_gain(x, r).value


def test_in_a_study_that_may_stop_each_bound_is_a_sequence_at_the_whole_level():
    looks = Horizon(6, 40)
    found, _ = compute_bounded_gain(loads(), 0.98, looks)
    x, r, _ = loads()
    values = np.log(x / r).mean(axis=0)
    expected, wider = (
        confidence_sequence(values, 0.02, looks, one_sided=one_sided) for one_sided in (True, False)
    )
    assert [found.low, found.high] == pytest.approx(
        [math.expm1(expected.low), math.expm1(expected.high)]
    )
    assert wider.low < expected.low and expected.high < wider.high
    at_once, _ = compute_bounded_gain(loads(), 0.96)
    assert at_once.high < found.high


@pytest.mark.parametrize("horizon", [None, Horizon(6, 40)])
def test_a_gain_with_many_timeouts_of_one_stack_is_bounded_on_one_side(horizon):
    x, r, limits = loads()
    late = np.full_like(x, math.inf)
    found, counts = compute_bounded_gain((late, r, limits), 0.95, horizon)
    assert counts.too_many and found.high == math.inf and found.low > 30
    at_limits = np.broadcast_to(np.array(limits)[:, None], x.shape)
    assert found.value == pytest.approx(geometric_gain(at_limits, r).value)
    other, _ = compute_bounded_gain((x, late, limits), 0.95, horizon)
    assert other.low == -1 and -1 < other.high < -0.9
    both, _ = compute_bounded_gain((late, np.where(r > 1, math.inf, r), limits), 0.95, horizon)
    assert both.value is None and "did not finish" in both.reason


def test_a_few_timeouts_count_as_their_limit():
    x, r, limits = loads()
    x[1, 4] = math.inf
    found, counts = compute_bounded_gain((x, r, limits))
    assert counts.any and not counts.too_many
    x[1, 4] = 90.0
    assert found == compute_bounded_gain((x, r, limits))[0]


def test_so_many_blocks_part_the_interval_from_a_limit_in_nine_of_ten_studies():
    deviation, distance = 0.1, math.log1p(0.05)
    blocks = blocks_to_part(deviation, distance, 0.95)
    draw = np.random.Generator(np.random.PCG64(4))
    passed = []
    for count in (blocks, int(0.8 * blocks)):
        values = deviation * draw.standard_normal((4000, count))
        reach = stats.t.ppf(0.975, count - 1) * values.std(axis=1, ddof=1) / math.sqrt(count)
        passed.append((values.mean(axis=1) + reach < distance).mean())
    assert passed[0] == pytest.approx(0.9, abs=0.02) and passed[1] < 0.85
    assert blocks_to_part(deviation, distance / 100, 0.95) is None
    assert blocks_to_part(deviation, distance, 0.95, fewest=99) == 99
