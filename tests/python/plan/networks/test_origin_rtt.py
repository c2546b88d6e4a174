"""Round trips of single origins: what can be asked for, and where it lies on the path."""

import pytest

from eyelevel.base.errors import NetworkError
from eyelevel.plan.networks.network import Network, lab_path
from eyelevel.plan.networks.origin_rtt import (
    Place,
    describe_rtts,
    hosts_without_rtt,
    origin_rtts,
    own_rtts_ms,
    places_of,
    with_own_rtts,
)

NETWORK = Network("made", 10**7, 10**6, 30.0, 100.0, loss_down=0.01)
WWW, CDN, ALIAS = (
    Place("www.example", "192.0.2.1", 21.5),
    Place("cdn.example", "192.0.2.2", 80.0),
    Place("alias.example", "192.0.2.2", 78.5),
)
PLACES = (WWW, CDN, ALIAS)


def test_a_recordings_hosts_come_once() -> None:
    origin = {"host": "www.example", "address": "192.0.2.1", "handshake_rtt_ms_min": 21.5}
    plain = {"host": "x.example", "address": "192.0.2.9"}
    assert places_of([origin, origin, plain]) == (WWW, Place("x.example", "192.0.2.9"))


@pytest.mark.parametrize(
    ("value", "asked"),
    [
        ("recorded", {"*": "recorded"}),
        ("20ms", {"*": 20.0}),
        (7, {"*": 7.0}),
        ({"cdn.example": "1s", "*": "recorded"}, {"cdn.example": 1000.0, "*": "recorded"}),
        ({"[2001:db8::1]": 0, "192.0.2.1": 60_000}, {"[2001:db8::1]": 0.0, "192.0.2.1": 60_000.0}),
    ],
)
def test_what_can_be_asked_for(value: object, asked: object) -> None:
    assert origin_rtts(value) == asked


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, 'it names no host; write `"recorded"`, a time'),
        (
            {"https://cdn.example:443/a": 1},
            "is not a host, such as `cdn.example`; write `cdn.example`",
        ),
        ({"CDN.example": 1}, "write `cdn.example`"),
        ({"a b": 1}, "`a b` is not a host, such as `cdn.example`$"),
        ("20 parsecs", "`20 parsecs` is not a round trip for `[*]`; write `recorded`, or a time"),
        ({"a.example": -1}, "`-1` is not a round trip for `a.example`"),
        ({"a.example": 60_001}, "up to 60s"),
        ({"a.example": True}, "`True` is not a round trip"),
        ({"a.example": None}, "`None` is not a round trip"),
        ({"a.example": float("nan")}, "`nan` is not a round trip"),
    ],
)
def test_what_cannot_be_asked_for_says_what_can(value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        origin_rtts(value)


def test_recorded_is_the_least_of_the_hosts_of_an_address() -> None:
    own = own_rtts_ms({"*": "recorded"}, PLACES, "site")
    assert own == {"www.example": 21.5, "cdn.example": 78.5, "alias.example": 78.5}


def test_a_host_that_is_named_is_not_among_the_others() -> None:
    own = own_rtts_ms({"*": "recorded", "www.example": 5.0}, PLACES, "site")
    assert own == {"www.example": 5.0, "cdn.example": 78.5, "alias.example": 78.5}
    assert own_rtts_ms({"www.example": 5.0}, PLACES, "site") == {"www.example": 5.0}
    assert own_rtts_ms({"www.example": 0.0}, PLACES, "site") == {}


@pytest.mark.parametrize("asked", [{"cdn.example": 20.0}, {"*": 4.0, "alias.example": 20.0}])
def test_hosts_of_one_address_are_alike_or_refused_by_both_names(asked: dict[str, float]) -> None:
    with pytest.raises(
        NetworkError, match=r"`cdn[.]example` and `alias[.]example` .*192[.]0[.]2[.]2"
    ):
        own_rtts_ms(asked, PLACES, "site")
    both = own_rtts_ms({"cdn.example": 20.0, "alias.example": 20.0}, PLACES, "site")
    assert both == {"cdn.example": 20.0, "alias.example": 20.0}


def test_a_host_without_a_recorded_round_trip_is_named() -> None:
    places = (WWW, Place("bare.example", "192.0.2.9"))
    with pytest.raises(NetworkError, match=r"site has no recorded round trip of `bare[.]example`"):
        own_rtts_ms({"*": "recorded"}, places, "site")
    assert own_rtts_ms({"www.example": "recorded"}, places, "site") == {"www.example": 21.5}
    assert hosts_without_rtt(places) == ["bare.example"]
    # Another host of its address tells it.
    assert hosts_without_rtt((CDN, Place("beside.example", CDN.address))) == []


def test_half_of_it_lies_beyond_the_network_each_way() -> None:
    plain = lab_path(NETWORK)
    path = with_own_rtts(plain, {"www.example": 20.0, "cdn.example": 80.0}, PLACES)
    beyond = {"stage": "address_delay", "delays_ms": {"192.0.2.1": 10.0, "192.0.2.2": 40.0}}
    assert path["down"] == [beyond, *plain["down"]]
    assert path["up"] == [*plain["up"], beyond]
    assert with_own_rtts(plain, {}, PLACES) == plain
    with pytest.raises(KeyError, match=r"other[.]example"):
        with_own_rtts(plain, {"other.example": 1.0}, PLACES)


def test_it_is_said_in_one_line() -> None:
    assert describe_rtts(None) == describe_rtts({}) == "none"
    assert describe_rtts({"*": "recorded"}) == "recorded"
    assert describe_rtts({"*": 3.0, "a.example": 20.0}) == "a.example 20 ms, all others 3 ms"
