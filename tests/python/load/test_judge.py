"""One load, one outcome: the first rule that holds."""

from dataclasses import replace
from typing import Any

import pytest
from judged_load import (
    GOOD,
    IN_TIME,
    QUIET,
    START_NS,
    TUNED,
    URL,
    a_connection,
    an_object,
    path_of,
)
from sample_record import sample_request

from eyelevel.load.judge import judge, misses
from eyelevel.load.recorded_answers import RecordedAnswers, SentBody
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.stacks import ExternalServer
from eyelevel.store.outcomes import OUTCOMES_BY_NAME


def test_a_good_load_is_ok() -> None:
    assert judge(GOOD) == ("ok", "")


def late(**changed: float) -> dict[str, Any]:
    return {"path": path_of(down=QUIET | changed)}


def read_late(**changed: float) -> dict[str, Any]:
    return {"path": path_of(up=QUIET | {"arrival": IN_TIME | changed})}


@pytest.mark.parametrize(
    ("outcome", "changes"),
    [
        ("browser-crashed", {"ended": "browser-crashed", "detail": "signal 11"}),
        ("lab-failed", {"ended": "navigation-failed", "detail": "net::ERR_CERT_INVALID"}),
        ("lab-failed", {"ended": "navigation-failed", "detail": "net::ERR_SSL_PROTOCOL_ERROR"}),
        (
            "different-page",
            {"ended": "navigation-failed", "detail": "net::ERR_CONTENT_DECODING_FAILED"},
        ),
        (
            "different-page",
            {"ended": "navigation-failed", "detail": "contentEncodingError"},
        ),
        ("lab-failed", {"requests": []}),
        ("timeout", {"ended": "timeout", "detail": "no load event within 180 s"}),
        ("timeout", {"ended": "navigation-failed", "detail": "net::ERR_QUIC_PROTOCOL_ERROR"}),
        ("late-packets", late(lateness_us_p99=1001.0)),
        ("late-packets", late(lateness_us_max=5001.0)),
        ("late-packets", read_late(lateness_us_p99=1001.0)),
        ("late-packets", read_late(lateness_us_max=5001.0)),
        ("late-packets", {"path": path_of(udp_receive_buffer=1)}),
        ("late-packets", {"path": path_of(device=1)}),
        ("impossible-timing", {"navigation_start_ns": START_NS + 48_500_000}),
        ("wrong-protocol", {"objects": [an_object(protocol="h3")]}),
        (
            "wrong-protocol",
            {"objects": [an_object(url="http://a.example/", protocol="http/1.1")]},
        ),
        ("wrong-stack", {"connections": [a_connection(congestion_control="bbr")]}),
        ("wrong-stack", {"connections": [a_connection(initial_window_packets=10)]}),
        ("wrong-stack", {"connections": [a_connection(pacing_rate_bytes_s_max=None)]}),
        ("wrong-stack", {"connections": [a_connection(tls_version="1.2")]}),
        ("wrong-stack", {"connections": [a_connection(cipher="TLS13_AES_256_GCM_SHA384")]}),
        ("wrong-stack", {"connections": [a_connection(key_exchange="X25519")]}),
        ("wrong-stack", {"connections": [a_connection(slow_start_after_idle=True)]}),
        (
            "wrong-stack",
            {"connections": [a_connection(first_flight_packets=32, first_flight_ms=0.2)]},
        ),
        ("missed-requests", {"requests": [sample_request(url=URL, match="miss")]}),
        (
            "missed-requests",
            {
                "objects": [
                    an_object(failed="net::ERR_NAME_NOT_RESOLVED", render_blocking="Blocking")
                ]
            },
        ),
        ("timeout", {"objects": [an_object(failed="net::ERR_CONNECTION_RESET")]}),
        ("different-page", {"objects": [an_object(failed="net::ERR_SSL_PROTOCOL_ERROR")]}),
        ("different-page", {"failed_step": "click a: no such element"}),
        ("different-page", {"objects": [an_object(failed="net::ERR_BAD_SSL_CLIENT_AUTH_CERT")]}),
        ("capture-incomplete", {"frames": 1}),
        ("capture-incomplete", {"frames_lost": 2}),
        ("capture-incomplete", {"final_picture_matches": False}),
        ("capture-incomplete", {"page_load_time_ms": None}),
        ("capture-incomplete", {"timings_refused": "they differ"}),
        ("different-page", {"ended_on": "about:blank", "page_load_time_ms": None}),
        ("capture-incomplete", {"requests_lost": 1}),
    ],
)
def test_each_trouble_has_its_outcome(outcome: str, changes: dict[str, Any]) -> None:
    found, detail = judge(replace(GOOD, **changes))
    assert found == outcome and detail
    assert found in OUTCOMES_BY_NAME


def test_what_others_took_of_the_processors_is_its_blocks_matter() -> None:
    disturbed = {"cpu_steal_share": 0.9, "cpu_foreign_share": 0.9}
    assert judge(replace(GOOD, host=disturbed)) == ("ok", "")


def test_a_timeout_of_a_stopped_process_is_no_result_but_late_packets_excuse_none() -> None:
    slow = replace(GOOD, ended="timeout", detail="no load event", **late(lateness_us_max=9000.0))
    assert judge(slow)[0] == "timeout"
    still = [{"process": "chromium", "at_ns": 1, "ms": 900.0}]
    assert judge(replace(slow, host={"cpu_steal_share": 0.0, "suspended": still}))[0] == "starved"


def test_the_bound_of_lateness_grows_with_the_round_trip() -> None:
    satellite = NETWORKS_BY_NAME["mss"]
    far = replace(
        GOOD, network=satellite, objects=[], connections=[], **late(lateness_us_max=30_000.0)
    )
    assert judge(far)[0] == "ok"


def test_a_miss_without_render_blocking_is_counted_but_no_trouble() -> None:
    image = "https://a.example/late.png"
    requests = [sample_request(url=URL, match="exact"), sample_request(url=image, match="miss")]
    objects = [an_object(), an_object(url=image, resource_type="Image")]
    load = replace(GOOD, requests=requests, objects=objects)
    assert judge(load)[0] == "ok"
    assert misses(load) == {image}


def test_what_a_frame_in_the_page_misses_does_not_hold_the_page() -> None:
    url = "https://third.example/frame"
    requests = [sample_request(url=URL, match="exact"), sample_request(url=url, match="miss")]
    framed = [an_object(), an_object(url=url, in_main_frame=False)]
    assert judge(replace(GOOD, requests=requests, objects=framed))[0] == "ok"
    own = [an_object(), an_object(url=url, in_main_frame=True)]
    assert judge(replace(GOOD, requests=requests, objects=own))[0] == "missed-requests"


def test_a_capture_that_was_not_asked_for_lacks_nothing() -> None:
    assert judge(replace(GOOD, frames=None, final_picture_matches=None))[0] == "ok"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"status": 404}, "answered 404"),
        (
            {"status": None, "failed": "net::ERR_FAILED (MissingAllowOriginHeader)"},
            "without access",
        ),
    ],
)
def test_what_an_external_server_did_not_give_counts(change: dict, said: str) -> None:
    own = replace(TUNED, external_server=ExternalServer(("x",), ("h2",)))
    whole = replace(GOOD, stack=own, connections=[], requests=[])
    assert judge(whole)[0] == "ok"
    outcome, detail = judge(replace(whole, objects=[an_object(), an_object(**change)]))
    assert outcome == "missed-requests"
    assert said in detail


def of_external_server(**changed: object) -> tuple[str, str]:
    """The judgement of a load of one object, recorded with 1,000 bytes."""
    stack = replace(TUNED, external_server=ExternalServer(("x",), ("h2",)))
    changes = {"bodies": [SentBody(1000)], "answers": RECORDED} | changed
    return judge(replace(GOOD, stack=stack, connections=[], requests=[], **changes))


RECORDED = RecordedAnswers.parse(
    "a.example\t/\tf\ttext/html\t200\t1000\na.example\t/gone\tg\ttext/html\t404\t9\n"
)


@pytest.mark.parametrize(
    ("url", "status", "blocking", "outcome"),
    [
        (f"{URL}gone", 404, "Blocking", "ok"),
        (f"{URL}gone", 500, None, "missed-requests"),
        (f"{URL}favicon.ico", 500, None, "ok"),
        (f"{URL}never-recorded", 404, None, "ok"),
        (f"{URL}never-recorded", 404, "Blocking", "missed-requests"),
        (f"{URL}never-recorded", 500, None, "missed-requests"),
        (f"{URL}?v=2", 404, None, "missed-requests"),
    ],
)
def test_an_external_servers_answer_as_recorded_is_no_failure(
    url: str, status: int, blocking: str | None, outcome: str
) -> None:
    item = an_object(url=url, status=status, render_blocking=blocking, resource_type="Script")
    assert of_external_server(objects=[item])[0] == outcome


@pytest.mark.parametrize(
    ("sent", "outcome"),
    [
        (SentBody(1010), "ok"),
        (SentBody(1011), "different-page"),
        (SentBody(989), "different-page"),
        (SentBody(1020, slack_bytes=10), "ok"),
        (SentBody(989, slack_bytes=100), "different-page"),
        (None, "ok"),
    ],
)
def test_an_external_servers_body_of_another_size_is_not_compared(
    sent: SentBody | None, outcome: str
) -> None:
    found, detail = of_external_server(bodies=[sent])
    assert found == outcome
    if outcome != "ok":
        assert detail == (
            f"the external server sent {URL} with {sent.size_bytes} bytes, ours sends 1000; send "
            "the file as it is, with its recorded fields (Content-Encoding)"
        )


def test_what_a_live_page_asks_of_other_origins_on_purpose_excludes_nothing() -> None:
    blocked = an_object(failed="net::ERR_NAME_NOT_RESOLVED", render_blocking="Blocking")
    load = replace(GOOD, objects=[*GOOD.objects, blocked])
    assert judge(load)[0] == "missed-requests"
    assert judge(replace(load, are_others_blocked=True)) == ("ok", "")
