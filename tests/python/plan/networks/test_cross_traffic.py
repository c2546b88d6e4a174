import pytest

from eyelevel.base.errors import NetworkError
from eyelevel.plan.networks.cross_traffic import CrossTraffic, parse_cross_traffic, settling_s
from eyelevel.plan.networks.network import Network


@pytest.mark.parametrize(
    ("text", "flows", "direction"),
    [("bbr", 1, "down"), ("bbr:3", 3, "down"), ("bbr:64:up", 64, "up")],
)
def test_what_is_left_out_is_one_flow_down(text, flows, direction):
    assert parse_cross_traffic(text) == CrossTraffic("bbr", flows, direction)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vegas", "unknown congestion control `vegas`; known: cubic, bbr, reno"),
        ("cubc:1", "did you mean `cubic`?"),
        ("cubic:0", "from 1 to 64"),
        ("cubic:65", "from 1 to 64"),
        ("cubic:²", "from 1 to 64"),
        ("cubic:down", "`down` flows"),
        ("cubic:1:dwon", "did you mean `down`?"),
        ("cubic:1:down:x", "too many colons"),
    ],
)
def test_mistakes_are_named(text, expected):
    with pytest.raises(NetworkError, match=r"^--cross-traffic ") as caught:
        parse_cross_traffic(text)
    assert expected in str(caught.value)


def test_it_is_part_of_a_networks_settings():
    kinds = (CrossTraffic("cubic", 2), CrossTraffic("bbr", 1, "up"))
    network = Network("busy", 10**6, 10**6, 20.0, 50.0, cross_traffic=kinds)
    assert Network.read(network.stated()) == network
    assert Network("calm", 10**6, 10**6, 20.0, 50.0).settings()["cross_traffic"] is None


def test_flows_fill_the_path_before_the_page_comes():
    assert settling_s(24, 12) == 1.0
    assert settling_s(262, 200) == pytest.approx(9.24)
    assert settling_s(5000, 5000) == 20.0
