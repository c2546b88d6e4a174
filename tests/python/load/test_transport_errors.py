"""An object that did not come: the network's doing is a result, the server's is not."""

from dataclasses import replace

import pytest
from judged_load import GOOD, a_connection, an_object
from sample_record import sample_request

from eyelevel.load.judge import judge, judge_live
from eyelevel.store.outcomes import CENSORED, OUTCOMES_BY_NAME

QUIC = "net::ERR_QUIC_PROTOCOL_ERROR"
LOST = (
    QUIC,
    f"{QUIC}.QUIC_NETWORK_IDLE_TIMEOUT",
    f"{QUIC}.QUIC_TOO_MANY_RTOS",
    f"{QUIC}.QUIC_HANDSHAKE_TIMEOUT",
    f"{QUIC}.QUIC_PUBLIC_RESET",
    f"{QUIC}.QUIC_NETWORK_IDLE_TIMEOUT (net::ERR_FAILED)",
    "net::ERR_QUIC_HANDSHAKE_FAILED",
    "net::ERR_HTTP2_PING_FAILED",
    "net::ERR_CONNECTION_RESET",
    "net::ERR_CONNECTION_TIMED_OUT",
    "net::ERR_CONNECTION_CLOSED",
    "net::ERR_TIMED_OUT",
    "net::ERR_EMPTY_RESPONSE",
    "NS_ERROR_NET_TIMEOUT",
    "NS_ERROR_NET_RESET",
    "NS_ERROR_NET_INTERRUPT",
)
BROKEN = (
    f"{QUIC}.QUIC_HTTP_FRAME_ERROR",
    f"{QUIC}.QUIC_INVALID_STREAM_DATA",
    f"{QUIC}.QUIC_IETF_GQUIC_ERROR_MISSING",
    f"{QUIC}.QUIC_PACKET_READ_ERROR",
    "net::ERR_HTTP2_PROTOCOL_ERROR",
    "net::ERR_HTTP2_COMPRESSION_ERROR",
    "net::ERR_HTTP2_SERVER_REFUSED_STREAM",
    "net::ERR_SSL_PROTOCOL_ERROR",
    "net::ERR_CONTENT_LENGTH_MISMATCH",
    "net::ERR_INCOMPLETE_CHUNKED_ENCODING",
    "net::ERR_NETWORK_CHANGED",
    "NS_ERROR_NET_HTTP3_PROTOCOL_ERROR",
    "NS_ERROR_NET_HTTP2_SENT_GOAWAY",
    "NS_ERROR_NET_INADEQUATE_SECURITY",
)
HERO = "https://a.example/hero.jpg"


def without_hero(*errors: str):
    hero = [an_object(url=HERO, resource_type="Image", failed=error) for error in errors]
    return replace(GOOD, objects=[*GOOD.objects, *hero])


@pytest.mark.parametrize("error", LOST)
def test_a_page_that_lost_an_object_is_censored_and_never_excluded(error: str) -> None:
    outcome, detail = judge(without_hero(error))
    assert outcome in CENSORED and not OUTCOMES_BY_NAME[outcome].excludes_load
    assert HERO in detail and error in detail


@pytest.mark.parametrize("error", BROKEN)
def test_an_object_that_a_server_broke_is_the_instruments_failure(error: str) -> None:
    outcome, detail = judge(without_hero(error))
    assert OUTCOMES_BY_NAME[outcome].fault == "instrument"
    assert OUTCOMES_BY_NAME[outcome].excludes_load
    assert HERO in detail and error in detail


@pytest.mark.parametrize("error", ["net::ERR_ABORTED", "blocked", "net::ERR_NAME_NOT_RESOLVED"])
def test_what_no_transport_failed_at_is_neither(error: str) -> None:
    assert judge(without_hero(error)) == ("ok", "")


def test_a_server_that_broke_one_object_is_to_blame_for_those_that_were_lost() -> None:
    assert judge(without_hero(LOST[1], BROKEN[0]))[0] == "different-page"


def test_several_lost_objects_are_counted() -> None:
    said = "the network lost https://a.example/hero.jpg, and 1 more object: "
    assert judge(without_hero(LOST[1], LOST[1]))[1].startswith(said)


def test_a_step_that_failed_for_want_of_a_lost_object_is_no_instruments_failure() -> None:
    lost = replace(without_hero("net::ERR_CONNECTION_RESET"), failed_step="click a: not found")
    assert judge(lost)[0] == "timeout"


@pytest.mark.parametrize(
    ("code", "outcome"),
    [("", "timeout"), (".QUIC_NETWORK_IDLE_TIMEOUT", "timeout"), (".QUIC_HTTP_FRAME_ERROR", "lab")],
)
def test_the_page_s_own_object_says_why_it_never_came(code: str, outcome: str) -> None:
    lost = replace(
        GOOD,
        ended="navigation-failed",
        detail=f"navigating to https://a.example/: {QUIC}",
        objects=[an_object(failed=QUIC + code)],
    )
    assert judge(lost)[0].startswith(outcome)


def test_a_live_page_may_lack_objects() -> None:
    live = replace(without_hero("net::ERR_CONNECTION_RESET"), requests=[sample_request()])
    assert judge_live(live)[0] == "ok"


OURS = "error from user's Body stream"


def add_server_error(load, connections=2):
    """Return the load with a connection that one of our servers ended by its own error."""
    sound = [a_connection() for _ in range(connections - 1)]
    return replace(load, connections=[*sound, a_connection(server_error=OURS)])


@pytest.mark.parametrize(
    "error",
    [
        "net::ERR_CONNECTION_CLOSED",
        "net::ERR_CONNECTION_RESET",
        "net::ERR_EMPTY_RESPONSE",
        "NS_ERROR_NET_RESET",
        "NS_ERROR_NET_INTERRUPT",
    ],
)
def test_a_connection_that_our_server_ended_is_the_instruments_failure(error: str) -> None:
    outcome, detail = judge(add_server_error(without_hero(error)))
    assert outcome == "different-page" and OUTCOMES_BY_NAME[outcome].excludes_load
    assert detail == f"{HERO} failed: {error} (the server: {OURS})"
    assert judge(without_hero(error))[0] in CENSORED, "without an error of the server's own"


@pytest.mark.parametrize(
    "error", ["net::ERR_CONNECTION_TIMED_OUT", f"{QUIC}.QUIC_NETWORK_IDLE_TIMEOUT"]
)
def test_what_no_server_can_do_stays_the_networks(error: str) -> None:
    assert judge(add_server_error(without_hero(error)))[0] in CENSORED


def test_a_page_that_our_server_gave_up_is_no_timeout() -> None:
    closed = "net::ERR_CONNECTION_CLOSED"
    load = replace(
        GOOD,
        ended="navigation-failed",
        detail=f"navigating to https://a.example/: {closed}",
        objects=[an_object(failed=closed)],
    )
    assert judge(load)[0] == "timeout"
    assert judge(add_server_error(load))[0] == "lab-failed"


def test_an_error_of_the_server_that_nobody_met_changes_nothing() -> None:
    assert judge(add_server_error(GOOD)) == ("ok", "")
