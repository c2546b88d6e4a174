"""A load as HAR: its phases add up, and what a record lacks is said to be unknown."""

import pytest
from har_opening import CONTENT_OF_PAGE, MESSAGE, OPENING
from sample_record import sample_record

from eyelevel.analysis.export.har import har_of

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


def entry_of(item, message, contents=()):
    record = sample_record() | {"objects": [item]}
    record["requests"] = [{"url": item["url"], "exchange": 0}]
    (entry,) = har_of(record, [message], contents)["log"]["entries"]
    return entry


def test_fields_are_as_the_browser_reported_them():
    entry = entry_of(OPENING, MESSAGE)
    names = [field["name"] for field in entry["response"]["headers"]]
    assert names == [name for name, _ in MESSAGE["response_fields"]]
    assert entry["response"]["content"]["mimeType"] == "text/html; charset=utf-8"


def test_cookies_are_read_from_their_fields():
    entry = entry_of(OPENING, MESSAGE)
    asked = [(each["name"], each["value"]) for each in entry["request"]["cookies"]]
    assert asked == [("a", "1"), ("session", "x=y"), ("b", "2")]
    first, second = entry["response"]["cookies"]
    assert first["expires"] == "2027-06-09T10:18:14+00:00"
    assert (first["path"], first["secure"], first["httpOnly"]) == ("/", True, True)
    assert second == {"name": "plain", "value": "", "httpOnly": False, "secure": False}


def test_sizes_are_those_on_the_wire_and_decoded():
    response = entry_of(OPENING, MESSAGE)["response"]
    # 4,321 bytes were received, 40 of them the head and 11 frames around the body.
    assert (response["headersSize"], response["bodySize"]) == (40, 4270)
    assert (response["content"]["size"], response["content"]["compression"]) == (9000, 4730)
    cached = entry_of(OPENING | {"from": "cache"}, MESSAGE)["response"]
    assert cached["bodySize"] == -1


def test_a_body_longer_than_what_was_received_declares_nothing():
    fields = [("content-length", "5000")]
    response = entry_of(OPENING, MESSAGE | {"response_fields": fields})["response"]
    assert response["bodySize"] == 4281


def test_a_form_is_parsed():
    request = entry_of(OPENING | {"method": "POST"}, MESSAGE | {"request_body": "q=%C3%A9+x&r="})[
        "request"
    ]
    assert request["postData"]["params"] == [
        {"name": "q", "value": "é x"},
        {"name": "r", "value": ""},
    ]
    assert request["bodySize"] == 13


def test_bodies_come_from_the_exchange_that_was_served():
    content = entry_of(OPENING, MESSAGE, [CONTENT_OF_PAGE])["response"]["content"]
    assert (content["text"], content["encoding"]) == (CONTENT_OF_PAGE["text"], "base64")
    assert "text" not in entry_of(OPENING, MESSAGE)["response"]["content"]
