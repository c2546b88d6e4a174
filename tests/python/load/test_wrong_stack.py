"""Loads whose stack was another one than was asked for, and those that only look like it."""

from dataclasses import replace
from typing import Any

import pytest
from judged_load import (
    AGAIN,
    FOUR_G,
    GOOD,
    TUNED,
    URL,
    a_connection,
    an_object,
)
from sample_record import sample_request

from eyelevel.load.judge import judge
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import Stack


@pytest.mark.parametrize(
    "exempt",
    [
        {"from": "cache"},
        {"from": "service-worker"},
        {"from": "data"},
        {"resource_type": "WebSocket"},
        {"url": "http://a.example/"},
        {"protocol": None},
    ],
)
def test_some_objects_have_no_protocol_to_be_wrong(exempt: dict[str, Any]) -> None:
    objects = [an_object(), an_object(**{"protocol": "http/1.1"} | exempt)]
    assert judge(replace(GOOD, objects=objects)) == ("ok", "")


def cleartext_connection(**in_force: Any) -> dict[str, Any]:
    nothing = dict.fromkeys(("tls_version", "cipher", "key_exchange"))
    told = a_connection(**(nothing | in_force))
    return told | {"protocol": "http/1.1", "scheme": "http", "connection": 1}


@pytest.mark.parametrize("stack", ["tcp+", "quic"])
def test_recorded_http_origins_are_in_cleartext_and_begin_as_the_stacks_tcp(stack: str) -> None:
    over = STACKS_BY_NAME[stack]
    plain = an_object(url="http://b.example/a.png", protocol="http/1.1")
    secure = a_connection(packet_bytes=over.quic_packet_bytes) | {"protocol": over.protocol}

    def judge_outcome(objects: list[Any], **in_force: Any) -> tuple[str, str]:
        seen = [secure, cleartext_connection(**in_force)]
        return judge(replace(GOOD, stack=over, objects=objects, connections=seen))

    mixed = [an_object(protocol=over.protocol), plain]
    assert judge_outcome(mixed) == ("ok", "")
    upgraded = [an_object(protocol=over.protocol), plain | {"protocol": over.protocol}]
    outcome, detail = judge_outcome(upgraded)
    assert outcome == "wrong-protocol" and "though it was recorded in cleartext" in detail
    for wrong in (
        {"initial_window_packets": 10},
        {"congestion_control": "reno"},
        {"slow_start_after_idle": True},
        {"pacing_rate_bytes_s_max": None},
    ):
        outcome, detail = judge_outcome(mixed, **wrong)
        assert outcome == "wrong-stack" and "connection 1, in cleartext" in detail
    lost = {"initial_window_packets": 1, "syn_ack_retransmitted_packets": 2}
    assert judge_outcome(mixed, **lost) == ("ok", "")


def test_where_http3_is_found_http2_is_right_too_and_begins_as_the_stacks_tcp() -> None:
    found = replace(STACKS_BY_NAME["quic"], discovery="alt-svc")
    over_quic = a_connection(packet_bytes=found.quic_packet_bytes) | {"protocol": "h3"}
    objects = [an_object(protocol="h2"), an_object(protocol="h3")]

    def judge_outcome(stack: Stack, **in_force: Any) -> tuple[str, str]:
        over_tcp = a_connection(**in_force) | {"protocol": "h2", "connection": 1}
        seen = [over_tcp, over_quic]
        return judge(replace(GOOD, stack=stack, objects=objects, connections=seen))

    assert judge_outcome(found) == ("ok", "")
    outcome, detail = judge_outcome(found, initial_window_packets=10)
    assert outcome == "wrong-stack" and "connection 1, over HTTP/2" in detail
    outcome, detail = judge_outcome(replace(found, discovery="known"))
    assert outcome == "wrong-protocol" and "instead of h3" in detail
    over_http1 = [an_object(protocol="http/1.1")]
    outcome, detail = judge(replace(GOOD, stack=found, objects=over_http1))
    assert outcome == "wrong-protocol" and "instead of h3 or h2" in detail


def test_what_exists_over_quic_alone_leaves_cleartext_to_cubic() -> None:
    stack = replace(STACKS_BY_NAME["quic"], congestion_control="sprout_ewma", pacing=False)
    secure = a_connection(congestion_control="sprout_ewma", pacing_rate_bytes_s_max=None)
    secure |= {"protocol": "h3"}
    secure["in_force"]["packet_bytes"] = stack.quic_packet_bytes
    plain = cleartext_connection(congestion_control="cubic", pacing_rate_bytes_s_max=None)
    objects = [an_object(protocol="h3")]
    seen = replace(GOOD, stack=stack, objects=objects, connections=[secure, plain])
    assert judge(seen) == ("ok", "")


def test_a_page_in_cleartext_is_what_a_stack_without_tls_is_for() -> None:
    stack = replace(TUNED, http_version="h1", tls_version="none")
    objects = [an_object(url="http://a.example/", protocol="http/1.1")]
    connection = a_connection() | {"protocol": "http/1.1"}
    for name in ("tls_version", "cipher", "key_exchange"):
        connection["in_force"][name] = None
    plain = replace(GOOD, objects=objects, stack=stack, connections=[connection])
    assert judge(plain) == ("ok", "")


def test_a_first_flight_that_the_page_did_not_fill_is_not_judged() -> None:
    short = a_connection(first_flight_packets=12, first_flight_ms=0.1)
    paced = a_connection(first_flight_packets=32, first_flight_ms=8.0)
    assert judge(replace(GOOD, connections=[short, paced]))[0] == "ok"


def test_a_window_that_a_lost_handshake_reduced_is_the_networks_doing() -> None:
    lost = a_connection(initial_window_packets=1, syn_ack_retransmitted_packets=2)
    assert judge(replace(GOOD, connections=[lost])) == ("ok", "")
    for in_force in ({"syn_ack_retransmitted_packets": 1}, {"retransmitted_packets": 5}, {}):
        kept = a_connection(initial_window_packets=1, **in_force)
        assert judge(replace(GOOD, connections=[kept]))[0] == "wrong-stack"


@pytest.mark.parametrize("window", [4, 10])
def test_a_window_that_pacing_lets_out_at_once_is_not_judged_by_its_pace(window: int) -> None:
    stack = replace(TUNED, initial_window_packets=window)
    flight = {"initial_window_packets": window, "first_flight_packets": 10, "first_flight_ms": 0.1}
    connections = [a_connection(**flight)]
    assert judge(replace(GOOD, stack=stack, connections=connections)) == ("ok", "")


def test_rsa_certificates_have_their_own_cipher_in_tls_1_2() -> None:
    stack = replace(TUNED, tls_version="1.2", certificate_key="rsa")
    told = {
        "tls_version": "1.2",
        "key_exchange": "X25519",
        "cipher": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    }
    assert judge(replace(GOOD, stack=stack, connections=[a_connection(**told)]))[0] == "ok"
    told["cipher"] = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
    wrong = judge(replace(GOOD, stack=stack, connections=[a_connection(**told)]))
    assert wrong[0] == "wrong-stack"


def test_a_repeat_visit_must_have_resumed_a_session() -> None:
    fresh, resumed = a_connection(resumed=False), a_connection(resumed=True)
    repeat = replace(GOOD, browser=AGAIN, connections=[fresh])
    outcome, detail = judge(repeat)
    assert outcome == "wrong-stack" and "resumed" in detail
    # One is enough: a host that the first visit never reached has no ticket.
    assert judge(replace(repeat, connections=[fresh, resumed])) == ("ok", "")
    assert judge(replace(repeat, browser=GOOD.browser)) == ("ok", "")
    outcome, detail = judge(replace(GOOD, connections=[fresh, resumed]))
    assert outcome == "wrong-stack" and "first visit" in detail
    cached = replace(GOOD, browser=replace(AGAIN, visit="cached"))
    assert judge(replace(cached, connections=[fresh])) == ("ok", "")
    assert judge(replace(cached, connections=[], requests=[], objects=[])) == ("ok", "")
    outcome, detail = judge(replace(cached, connections=[fresh, resumed]))
    assert outcome == "wrong-stack" and "cached visit" in detail


@pytest.mark.parametrize(
    ("offered", "word"), [(True, "servers took none"), (False, "browser offered none")]
)
def test_a_repeat_visit_of_a_stack_with_early_data_must_have_sent_some(
    offered: bool, word: str
) -> None:
    told = {"resumed": True, "early_data_offered": offered, "early_data_accepted": False}
    stack = replace(TUNED, early_data=True)
    repeat = replace(GOOD, browser=AGAIN, stack=stack, connections=[a_connection(**told)])
    outcome, detail = judge(repeat)
    assert outcome == "wrong-stack" and word in detail
    taken = a_connection(**{**told, "early_data_accepted": True})
    assert judge(replace(repeat, connections=[taken])) == ("ok", "")


@pytest.mark.parametrize(
    ("packets", "span_ms", "outcome"),
    [(20, 2.0, "ok"), (20, 0.1, "wrong-stack"), (15, 0.1, "ok"), (32, 3.5, "wrong-stack")],
)
def test_a_first_flight_over_tcp_is_judged_as_far_as_it_was_seen(
    packets: int, span_ms: float, outcome: str
) -> None:
    flight = a_connection(first_flight_packets=packets, first_flight_ms=span_ms)
    assert judge(replace(GOOD, connections=[flight]))[0] == outcome


def test_a_repeat_visit_without_tls_has_nothing_to_resume() -> None:
    plain = replace(TUNED, http_version="h1", tls_version="none")
    in_force = {"tls_version": None, "cipher": None, "key_exchange": None, "resumed": None}
    connection = a_connection(**in_force) | {"protocol": "http/1.1"}
    repeat = replace(GOOD, browser=AGAIN, stack=plain, connections=[connection], objects=[])
    assert judge(repeat) == ("ok", "")


def test_another_connection_type_is_another_stack() -> None:
    seen = replace(GOOD, browser=FOUR_G, connection_type="3g")
    assert judge(seen) == ("wrong-stack", "the browser assumed the network to be 3g, not 4g")
    for same in (
        replace(seen, connection_type="4g"),
        replace(seen, browser=GOOD.browser),
        # Without scripts nobody can ask the browser.
        replace(seen, connection_type=None, browser=replace(FOUR_G, javascript=False)),
    ):
        assert judge(same)[0] == "ok"


def test_a_connection_type_that_cannot_be_read_is_not_taken_for_the_right_one() -> None:
    untold = replace(GOOD, browser=FOUR_G, connection_type=None)
    outcome, detail = judge(untold)
    assert outcome == "wrong-stack" and "nothing that it told" in detail
    late = replace(untold, ended="timeout", detail="no load event")
    assert judge(late)[0] == "timeout"


@pytest.mark.parametrize(
    ("told", "word"),
    [
        ({}, ""),
        ({"request_table_bytes": 4096, "response_table_bytes": 4096}, ""),
        ({"request_table_bytes": 0}, "request_table_bytes was 0, not 4096"),
        ({"response_table_bytes": 0}, "response_table_bytes was 0, not 4096"),
        ({"response_table_bytes": 65_536}, "response_table_bytes was 65536, not 4096"),
        ({"blocked_streams_max": 20}, ""),
        ({"blocked_streams_max": 101}, "blocked_streams_max was 101, more than 100"),
    ],
)
def test_a_connection_with_a_request_has_the_stacks_header_tables(told: dict, word: str) -> None:
    stack = replace(TUNED, header_table_bytes=4096, blocked_streams_max=100)
    served = [sample_request(url=URL)]
    load = replace(GOOD, stack=stack, requests=served, connections=[a_connection(**told)])
    outcome, detail = judge(load)
    assert (outcome == "ok") == (word == "")
    assert word in detail
    # What the client did not get to say on another one is no fault.
    assert judge(replace(load, requests=[sample_request(connection=1)]))[0] == "ok"


def test_a_connection_that_had_no_chance_to_take_the_table_is_no_fault() -> None:
    """Its requests came within two round trips, of 24 ms, and 25 ms of the handshake's end, 1 s."""
    stack = replace(TUNED, header_table_bytes=4096)

    def judge_outcome(
        *tables: int,
        at_ms: tuple[float, ...] = (1001,),
        rtt_ms: float | None = 24.0,
        smoothed_ms: float | None = None,
        **more: Any,
    ) -> str:
        served = [sample_request(url=URL)]
        served += [
            sample_request(url=URL, connection=1, at_ns=int(each * 1e6), **more) for each in at_ms
        ]
        rtts = {"rtt_ms_min": rtt_ms, "rtt_ms_smoothed": smoothed_ms}
        told = [a_connection(request_table_bytes=each, **rtts) for each in tables]
        numbered = [
            each | {"connection": number, "ready_at_ns": 10**9} for number, each in enumerate(told)
        ]
        return judge(replace(GOOD, stack=stack, requests=served, connections=numbered))[0]

    assert judge_outcome(4096, 0) == judge_outcome(4096, 0, at_ms=(1001, 1072)) == "ok"
    assert judge_outcome(4096, 0, at_ms=(1122,), think_ms=50.0) == "ok"
    # In a queue of 200 ms what was lost is repaired later.
    assert judge_outcome(4096, 0, at_ms=(1424,), smoothed_ms=200.0) == "ok"
    assert (
        judge_outcome(4096, 0, at_ms=(1001, 1074))
        == judge_outcome(4096, 0, at_ms=(1122,))
        == judge_outcome(4096, 0, at_ms=(1426,), smoothed_ms=200.0)
        == "wrong-stack"
    )
    assert (
        judge_outcome(0, 0)
        == judge_outcome(4096, 100)
        == judge_outcome(4096, 0, rtt_ms=None)
        == "wrong-stack"
    )


def test_a_stack_that_gives_tickets_out_on_a_first_visit_may_resume() -> None:
    stack = replace(TUNED, session_tickets=True)
    resumed = replace(GOOD, connections=[a_connection(resumed=True)])
    assert judge(resumed)[0] == "wrong-stack"
    assert judge(replace(resumed, stack=stack))[0] == "ok"
