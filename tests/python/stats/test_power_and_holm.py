import math

import pytest

from eyelevel.stats.families import holm
from eyelevel.stats.power import smallest_detectable


def test_detectable_effect_is_rs_power_t_test():
    # R: power.t.test(n = 20, power = 0.8, type = "one.sample") gives delta = 0.6604
    assert smallest_detectable(1 / math.sqrt(20), 19) == pytest.approx(0.6604, abs=0.002)


def test_holm_by_hand():
    # sorted 0.01, 0.02, 0.04 times 3, 2, 1, made monotone
    assert holm([0.04, 0.01, None, 0.02]) == pytest.approx([0.04, 0.03, None, 0.04])


def test_nothing_known_stays_unknown():
    assert holm([None, None]) == [None, None]
