"""Timings that no path allows, each by its own rule."""

from dataclasses import replace
from typing import Any

import pytest
from judged_load import AGAIN, GOOD, START_NS, URL, a_connection, an_object

from eyelevel.load.rules import TOLERANCE_MS, impossible_timing
from eyelevel.plan.networks.network import Network
from eyelevel.plan.stack_presets import STACKS_BY_NAME

RTT_MS = 24.0
"""The round trip of `dsl`, half of it up."""
FIRST_BYTE = f"the first byte of {URL} came"


def connection(accepted_ms: float, ready_ms: float | None, **changed: Any) -> dict[str, Any]:
    """A connection with these times after navigation start."""
    ready_at_ns = None if ready_ms is None else START_NS + round(ready_ms * 1e6)
    accepted_at_ns = START_NS + round(accepted_ms * 1e6)
    return a_connection() | {"accepted_at_ns": accepted_at_ns, "ready_at_ns": ready_at_ns} | changed


def test_a_load_within_its_bounds_is_possible() -> None:
    assert impossible_timing(GOOD) == ""


@pytest.mark.parametrize(
    ("protocol", "bound_ms"), [("h2", 1.5 * RTT_MS), ("http/1.1", 1.5 * RTT_MS), ("h3", RTT_MS / 2)]
)
def test_the_path_bounds_when_a_connection_is_accepted(protocol: str, bound_ms: float) -> None:
    def judged(accepted_ms: float) -> str:
        late = connection(accepted_ms, accepted_ms + RTT_MS, protocol=protocol)
        return impossible_timing(replace(GOOD, connections=[a_connection(), late]))

    assert judged(bound_ms) == judged(bound_ms - TOLERANCE_MS) == ""
    early = judged(bound_ms - TOLERANCE_MS - 0.1)
    assert early.startswith("connection 0 was accepted") and f"{bound_ms:.1f} ms at least" in early


def test_a_head_start_is_named() -> None:
    load = replace(GOOD, connections=[connection(-8.5, 35.1)])
    assert impossible_timing(load) == (
        "connection 0 was accepted 8.5 ms before the navigation started"
    )


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_a_handshake_takes_its_round_trip(protocol: str) -> None:
    def judged(ready_ms: float | None, scheme: str = "https") -> str:
        seen = connection(40.0, ready_ms, protocol=protocol, scheme=scheme)
        return impossible_timing(replace(GOOD, connections=[seen]))

    assert judged(40.0 + RTT_MS) == ""
    assert "finished its handshake 23.0 ms after" in judged(63.0)
    assert judged(None) == judged(40.0, scheme="http") == ""


@pytest.mark.parametrize(
    ("stack", "url", "round_trips"),
    [
        ("tcp+", URL, 3),
        ("http1", URL, 3),
        ("quic", URL, 2),
        ("tcp+", "http://a.example/", 2),
    ],
)
def test_the_first_byte_takes_its_round_trips(stack: str, url: str, round_trips: int) -> None:
    def judged(response_ms: float) -> str:
        document = an_object(url=url, response_ms=response_ms)
        load = replace(GOOD, stack=STACKS_BY_NAME[stack], objects=[document])
        return impossible_timing(load)

    assert judged(round_trips * RTT_MS) == ""
    assert f"less than {round_trips} round trips" in judged(round_trips * RTT_MS - 1.0)


@pytest.mark.parametrize("change", [{"response_ms": None}, {"from": "cache", "response_ms": 2.0}])
def test_a_document_that_did_not_cross_the_path_has_no_bound(change: dict[str, Any]) -> None:
    assert impossible_timing(replace(GOOD, objects=[an_object(**change)])) == ""
    assert impossible_timing(replace(GOOD, objects=[])) == ""


def test_visits_that_find_something_of_an_earlier_one_are_not_judged() -> None:
    early = replace(GOOD, connections=[connection(-8.5, 35.1)])
    assert impossible_timing(replace(early, browser=AGAIN)) == ""
    resumed = replace(GOOD.stack, early_data=True)
    assert impossible_timing(replace(early, stack=resumed)) == ""


def test_a_load_without_a_navigation_has_no_time_zero() -> None:
    load = replace(GOOD, navigation_start_ns=None, connections=[connection(-8.5, 35.1)])
    assert impossible_timing(load) == ""


def test_stages_of_unknown_shares_bound_the_round_trip_alone() -> None:
    staged = Network("staged", 10**7, 10**7, RTT_MS, 100.0, stages_down=(), stages_up=())
    on_time = replace(GOOD, network=staged, connections=[connection(RTT_MS, 2 * RTT_MS)])
    assert impossible_timing(on_time) == ""
    early = replace(on_time, connections=[connection(RTT_MS - 1.0, 2 * RTT_MS)])
    assert "which takes 24.0 ms at least" in impossible_timing(early)


def test_the_first_byte_has_its_sentence() -> None:
    load = replace(GOOD, objects=[an_object(response_ms=51.7)])
    assert impossible_timing(load) == (
        f"{FIRST_BYTE} 51.7 ms after the navigation started, "
        "less than 3 round trips, which take 72 ms"
    )
