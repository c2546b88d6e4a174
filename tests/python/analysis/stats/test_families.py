import pytest

from eyelevel.analysis.stats.families import holm, holm_of_attainable


def test_holm_by_hand():
    # sorted 0.01, 0.02, 0.04 times 3, 2, 1, made monotone
    assert holm([0.04, 0.01, None, 0.02]) == pytest.approx([0.04, 0.03, None, 0.04])


def test_nothing_known_stays_unknown():
    assert holm([None, None]) == [None, None]


def test_a_test_that_cannot_reach_the_level_takes_nothing_from_the_others():
    gains = [(0.02, 0.0), (0.3, 0.0)]
    assert holm_of_attainable([*gains, (0.25, 0.25), (None, 0.0)], 0.05) == (
        [0.04, 0.3, 1.0, None],
        2,
    )
    # One of two could reach 0.05 / 3, and is counted though it does not.
    adjusted, members = holm_of_attainable([*gains, (0.5, 0.01), (0.02, 0.02)], 0.05)
    assert members == 3 and adjusted == pytest.approx([0.06, 0.6, 0.6, 1.0])
