"""A load as HAR: its phases add up, and what a record lacks is said to be unknown."""

import pytest
from har_opening import OPENING
from sample_record import sample_record

from eyelevel.export.har import har_of

REUSING = OPENING | {"lookup_ms": None, "connect_ms": None, "tls_ms": None, "sending_ms": 3.0}
FAILED = OPENING | {
    "protocol": None,
    "status": None,
    "lookup_ms": None,
    "connect_ms": None,
    "tls_ms": None,
    "sending_ms": None,
    "sent_ms": None,
    "response_ms": None,
    "connection": None,
    "address": None,
    "failed": "net::ERR_NAME_NOT_RESOLVED",
}


def entries(*objects):
    return har_of(sample_record() | {"objects": list(objects)})["log"]["entries"]


@pytest.mark.parametrize("item", [OPENING, REUSING, FAILED])
def test_the_phases_add_up_to_the_whole_time(item):
    (entry,) = entries(item)
    timings = entry["timings"]
    phases = ("blocked", "dns", "connect", "send", "wait", "receive")
    assert sum(max(timings[name], 0) for name in phases) == pytest.approx(148.5)
    assert entry["time"] == pytest.approx(148.5)


def test_a_quic_handshake_is_no_tcp_handshake():
    (entry,) = entries(OPENING)
    assert entry["timings"]["connect"] == entry["timings"]["ssl"] == 50
    assert entry["timings"]["dns"] == 10
    assert entry["serverIPAddress"] == "2001:db8::1"
    assert entry["request"]["queryString"] == [
        {"name": "q", "value": "1"},
        {"name": "empty", "value": ""},
    ]


def test_what_did_not_happen_is_minus_one():
    reusing, failed = entries(REUSING, FAILED)
    assert [reusing["timings"][name] for name in ("dns", "connect", "ssl")] == [-1, -1, -1]
    assert failed["timings"]["blocked"] == -1
    assert failed["response"]["status"] == 0
    assert failed["response"]["_error"] == "net::ERR_NAME_NOT_RESOLVED"


def test_the_document_has_what_the_specification_demands():
    log = har_of(sample_record() | {"objects": [OPENING, OPENING | {"from": "data"}]})["log"]
    assert log["version"] == "1.2"
    assert {"name", "version"} <= set(log["creator"])
    (page,) = log["pages"]
    assert page["pageTimings"] == {"onContentLoad": 500.0, "onLoad": 1000.0}
    (entry,) = log["entries"]  # a data: URL never reaches the network
    assert entry["pageref"] == page["id"]
    request = {"method", "url", "httpVersion", "headers", "queryString", "cookies"}
    assert request | {"headersSize", "bodySize"} <= set(entry["request"])
    response = {"status", "statusText", "httpVersion", "headers", "cookies", "content"}
    assert response | {"redirectURL", "headersSize", "bodySize"} <= set(entry["response"])
    assert entry["startedDateTime"] == "2026-11-21T09:00:00.002+00:00"
