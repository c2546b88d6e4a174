import pytest

from eyelevel.plan.networks import NETWORKS, NETWORKS_BY_NAME, lab_path, loss_of_each_direction


def test_presets_are_the_papers_table():
    rows = {
        each.name: (each.rate_down_bit_s, each.rate_up_bit_s, each.rtt_ms_min, each.queue_ms)
        for each in NETWORKS
    }
    assert rows == {
        "dsl": (25_000_000, 5_000_000, 24, 12),
        "lte": (10_500_000, 2_800_000, 74, 200),
        "3g": (3_540_000, 3_540_000, 94, 200),
        "da2gc": (468_000, 468_000, 262, 200),
        "mss": (1_890_000, 1_890_000, 760, 200),
    }


@pytest.mark.parametrize(
    ("name", "each_direction"),
    # By hand: sqrt(0.94) = 0.969536, sqrt(0.967) = 0.983362, sqrt(0.99952) = 0.999760
    [("mss", 0.030464), ("da2gc", 0.016638), ("3g", 0.000240029), ("lte", 0.0), ("dsl", 0.0)],
)
def test_two_way_loss_is_split_over_both_directions(name, each_direction):
    network = NETWORKS_BY_NAME[name]
    assert network.loss_down == pytest.approx(each_direction, rel=1e-4)
    assert network.loss_up == network.loss_down


def test_both_packets_arrive_with_the_wanted_chance():
    assert (1 - loss_of_each_direction(0.06)) ** 2 == pytest.approx(0.94)


def test_the_path_is_delay_rate_loss_down_and_the_reverse_up():
    path = lab_path(NETWORKS_BY_NAME["mss"])
    assert [stage["stage"] for stage in path["down"]] == ["delay", "rate", "loss"]
    assert [stage["stage"] for stage in path["up"]] == ["loss", "rate", "delay"]
    assert path["down"][0]["delay_ms"] + path["up"][-1]["delay_ms"] == 760
    assert path["down"][1]["queue"] == {"discipline": "droptail", "limit_ms": 200}


def test_a_lossless_path_has_no_loss_stage():
    path = lab_path(NETWORKS_BY_NAME["dsl"])
    assert [stage["stage"] for stage in path["down"]] == ["delay", "rate"]
    assert path["up"][0]["rate_bit_s"] == 5_000_000
