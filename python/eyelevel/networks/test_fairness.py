import pytest

from eyelevel.networks.fairness import fairness, jain_index


def test_jains_index_lies_between_one_for_all_and_all_alike():
    assert jain_index([3.0, 3.0, 3.0]) == pytest.approx(1.0)
    assert jain_index([5.0, 0.0, 0.0, 0.0]) == pytest.approx(0.25)
    # Jain, Chiu, Hawe 1984, section 3: of two, one with a third of the other's.
    assert jain_index([3.0, 1.0]) == pytest.approx(16 / 20)
    assert jain_index([]) is None and jain_index([0.0, 0.0]) is None


def test_only_flows_of_one_direction_are_compared():
    flows = [
        {"direction": "down", "goodput_bit_s": 2.0},
        {"direction": "up", "goodput_bit_s": 5.0},
        {"direction": "down", "goodput_bit_s": 2.0},
    ]
    assert fairness(flows) == {"down": 1.0, "up": 1.0}
