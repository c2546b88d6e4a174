import itertools
from dataclasses import fields

import numpy as np
import pytest

from eyelevel.plan.networks.network import Network, lab_path, loss_of_each_direction
from eyelevel.plan.networks.presets import GROUPS, NETWORKS, NETWORKS_BY_NAME
from eyelevel.plan.traces.mahimahi import mean_rate_bit_s, parse_mahimahi


def test_presets_are_the_papers_table():
    rows = {
        each.name: (each.rate_down_bit_s, each.rate_up_bit_s, each.rtt_ms_min, each.queue_ms)
        for each in GROUPS[0].networks
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


def test_no_two_presets_share_a_name():
    assert len(NETWORKS) == len(NETWORKS_BY_NAME)


def test_das_grid_is_his_ten_rates_and_ten_round_trips():
    names = [
        f"das-{rate}-{rtt}"
        for rate, rtt in itertools.product(
            ("0.2", "0.3", "0.6", "1", "1.7", "3", "5", "8", "14", "25"), range(30, 301, 30)
        )
    ]
    assert [network.name for network in GROUPS[-1].networks] == names


@pytest.mark.parametrize(
    ("name", "queue_bytes"),
    # 0.2 Mbit/s in 30 ms are 750 bytes, in 300 ms 7500; 25 Mbit/s in 120 ms are 375 000.
    [("das-0.2-30", 3000), ("das-0.2-300", 7500), ("das-25-120", 375_000)],
)
def test_das_queue_is_one_bandwidth_delay_product_but_two_packets(name, queue_bytes):
    path = lab_path(NETWORKS_BY_NAME[name])
    for stage in (path["down"][1], path["up"][0]):
        assert stage["queue"] == {"discipline": "droptail", "limit_bytes": queue_bytes}


def test_settings_state_all_but_the_name():
    names = {field.name for field in fields(Network)}
    assert set(NETWORKS_BY_NAME["mss"].settings()) == names - {"name"}


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_a_network_survives_its_settings(network):
    assert Network.read(network.stated()) == network


def second_rates(name, direction):
    """Of a made course, its packets in each second."""
    path = lab_path(NETWORKS_BY_NAME[name])
    link = next(stage for stage in path[direction] if stage["stage"] == "trace")
    return np.bincount(np.array(link["trace"]) // 1000, minlength=60)[:60]


@pytest.mark.parametrize("direction", ["down", "up"])
def test_das_operators_are_two_links_and_not_one_scaled_twice(direction):
    verizon, att = (second_rates(name, direction) for name in ("das-verizon-30", "das-att-30"))
    assert abs(np.corrcoef(verizon, att)[0, 1]) < 0.5
    assert second_rates("das-att-300", direction).tolist() == att.tolist()


@pytest.mark.parametrize("name", ["starlink", "das-att-120"])
def test_a_made_course_has_the_rate_of_the_table(name):
    network = NETWORKS_BY_NAME[name]
    down = lab_path(network)["down"][1]
    trace = parse_mahimahi("\n".join(map(str, down["trace"])), name)
    assert mean_rate_bit_s(trace) == pytest.approx(network.rate_down_bit_s, rel=1e-4)
    assert down["queue"] == {"discipline": "droptail", "limit_ms": network.queue_ms}


def test_a_recorded_course_is_found_by_its_digest():
    network = Network("x", 1_000_000, 1_000_000, 40, 100, trace_down_sha256="ab")
    path = lab_path(network, {"ab": "recorded.down"})
    assert path["down"][1]["trace"] == "recorded.down"
    assert path["up"][0]["stage"] == "rate"
    with pytest.raises(KeyError):
        lab_path(network)
