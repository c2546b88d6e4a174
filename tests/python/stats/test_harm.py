import pytest

from eyelevel.stats.gain import performance_gain
from eyelevel.stats.harm import harm, harm_of_gains


def test_harm_is_the_share_of_the_time_that_cross_traffic_added():
    found = harm([200.0, 210.0, 190.0], [100.0, 100.0, 100.0])
    assert found.value == pytest.approx(0.5)
    assert found.low is not None and found.high is not None
    assert 0.4 < found.low < 0.5 < found.high < 0.6


def test_harm_over_sites_is_their_mean():
    beside, alone = [[200.0, 220.0], [100.0, 130.0]], [[100.0, 100.0], [100.0, 100.0]]
    gains = [performance_gain(a, b) for b, a in zip(beside, alone, strict=True)]
    each = [harm(b, a).value or 0.0 for b, a in zip(beside, alone, strict=True)]
    assert harm_of_gains(gains).value == pytest.approx(sum(each) / 2)
