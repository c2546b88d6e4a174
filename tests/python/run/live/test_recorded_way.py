"""Replays beside live loads are as far from each server as it was when it was recorded."""

from pathlib import Path

import pytest

from eyelevel.errors import PlanError
from eyelevel.networks.network import Network, lab_path, with_ways_beyond
from eyelevel.run.live.recorded_way import rtts_by_address
from eyelevel.sites.recorded import RecordedSite

RECORDING = RecordedSite("site", Path("site.wacz"), "0" * 64)
NETWORK = Network("made", 10**7, 10**6, 30.0, 100.0)


def origin(host: str, address: str, rtt_ms: float | None) -> dict[str, object]:
    timed = {} if rtt_ms is None else {"handshake_rtt_ms_min": rtt_ms}
    return {"host": host, "address": address, **timed}


def test_an_address_has_the_least_round_trip_of_its_hosts() -> None:
    origins = [
        origin("a.example", "192.0.2.1", 21.5),
        origin("b.example", "192.0.2.1", 20.5),
        origin("c.example", "192.0.2.1", None),
        origin("d.example", "192.0.2.2", 80.0),
    ]
    assert rtts_by_address(origins, RECORDING) == {"192.0.2.1": 20.5, "192.0.2.2": 80.0}


def test_a_server_without_one_is_named() -> None:
    origins = [origin("a.example", "192.0.2.1", 20.0), origin("b.example", "192.0.2.2", None)]
    with pytest.raises(PlanError, match=r"no recorded round trip of `b[.]example`"):
        rtts_by_address(origins, RECORDING)


def test_half_of_it_lies_beyond_the_network_each_way() -> None:
    far = with_ways_beyond(NETWORK, "far", {"192.0.2.1": 20.0, "192.0.2.2": 80.0})
    plain, path = lab_path(NETWORK), lab_path(far)
    beyond = {"stage": "address_delay", "delays_ms": {"192.0.2.1": 10.0, "192.0.2.2": 40.0}}
    assert path["down"] == [beyond, *plain["down"]]
    assert path["up"] == [*plain["up"], beyond]
    assert far.rtt_ms_min == 50.0
