import math

import numpy as np
import pytest

from eyelevel.analysis.stats.binomial import binomial_interval
from eyelevel.analysis.stats.censoring import loads_to_see, slow_loads


def test_one_site_is_mcnemars_exact_test():
    x, r = np.full(20, 100.0), np.full(20, 200.0)
    x[:8], r[7:9] = 151, 301
    found = slow_loads(x, r)
    # Seven blocks have it of one stack alone, one of the other: 2 (1 + 8) / 2^8.
    assert found.p == pytest.approx(2 * 9 / 256)
    assert (found.share.value, found.share_reference.value, found.pairs) == (0.4, 0.1, 20)
    assert (found.share.low, found.share.high) == binomial_interval(8, 20, 0.95)


def test_a_stack_that_is_faster_throughout_has_no_fewer_slow_loads():
    draw = np.random.Generator(np.random.PCG64(1))
    r = np.exp(0.2 * draw.standard_normal((5, 30)))
    found = slow_loads(0.5 * r, r)
    assert found.share == found.share_reference and found.p is None


def test_a_busy_minute_on_all_sites_is_one_event_and_not_as_many_as_sites():
    x, r = np.full((10, 10), 100.0), np.full((10, 10), 100.0)
    x[:, 0] = 300
    assert slow_loads(x, r).p == 1


def test_timeouts_are_slow_and_blocks_without_a_pair_do_not_count():
    x, r = np.full((2, 8), 100.0), np.full((2, 8), 100.0)
    x[0, 0], r[1, 1] = math.inf, math.nan
    found = slow_loads(x, r)
    assert found.pairs == 15 and found.share.value == pytest.approx(1 / 15)
    x[0, :4] = math.inf
    assert "half of a site's loads" in slow_loads(x, r).share.reason
    r[1] = math.nan
    assert slow_loads(x, r).share.value is None


def test_how_many_loads_hold_one_of_a_tail():
    assert [loads_to_see(share) for share in (0.1, 0.03)] == [29, 99]
    assert 0.9**29 <= 0.05 < 0.9**28
