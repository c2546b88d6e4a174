import pytest

from eyelevel.stats.families import holm


def test_holm_by_hand():
    # sorted 0.01, 0.02, 0.04 times 3, 2, 1, made monotone
    assert holm([0.04, 0.01, None, 0.02]) == pytest.approx([0.04, 0.03, None, 0.04])


def test_nothing_known_stays_unknown():
    assert holm([None, None]) == [None, None]
