"""Objects from DevTools' network events."""

from typing import Any

from eyelevel.browser.chromium import network_log as module
from eyelevel.browser.chromium.network_log import NetworkLog
from eyelevel.browser.observations import ObjectLoad

START_S = 1000.0


def asked(request_id: str, at_s: float, url: str, **more: Any) -> tuple[str, dict[str, Any]]:
    request = {"url": url, "method": "GET", "initialPriority": "High"}
    event = {"requestId": request_id, "request": request, "timestamp": at_s, "type": "Image"}
    return "Network.requestWillBeSent", event | more


def response(**more: Any) -> dict[str, Any]:
    timing = {"requestTime": 1000.010, "sendEnd": 2.0, "receiveHeadersStart": 30.0}
    return {
        "status": 200,
        "protocol": "h3",
        "connectionId": 0,
        "encodedDataLength": 120,
        "remoteIPAddress": "192.0.2.1",
        "remotePort": 443,
        "timing": timing,
    } | more


def answered(request_id: str, at_s: float, **more: Any) -> tuple[str, dict[str, Any]]:
    event = {"requestId": request_id, "timestamp": at_s, "type": "Image"}
    return "Network.responseReceived", event | {"response": response(**more)}


def finished(request_id: str, at_s: float, size: int) -> tuple[str, dict[str, Any]]:
    event = {"requestId": request_id, "timestamp": at_s, "encodedDataLength": size}
    return "Network.loadingFinished", event


def failed(request_id: str, at_s: float, **more: Any) -> tuple[str, dict[str, Any]]:
    event = {"requestId": request_id, "timestamp": at_s, "errorText": "net::ERR_ABORTED"}
    return "Network.loadingFailed", event | more


def log_of(*events: tuple[str, dict[str, Any]]) -> NetworkLog:
    log = NetworkLog()
    for method, event in events:
        log.handle_event(method, event)
    return log


def only(log: NetworkLog) -> ObjectLoad:
    (loaded,) = log.objects(START_S)
    return loaded


def test_one_object():
    log = log_of(
        asked("1", 1000.005, "https://a.test/x.png", renderBlockingBehavior="NonBlocking"),
        answered("1", 1000.045),
        finished("1", 1000.070, 5000),
    )
    loaded = only(log)
    assert (loaded.started_ms, loaded.sent_ms) == (5.0, 12.0)
    assert (loaded.response_ms, loaded.finished_ms) == (40.0, 70.0)
    assert (loaded.encoded_bytes, loaded.protocol, loaded.source) == (5000, "h3", "network")
    assert (loaded.render_blocking, loaded.priority) == ("NonBlocking", "High")
    assert loaded.address == "192.0.2.1:443"
    assert not log.waits


def test_what_a_hint_had_fetched_is_marked():
    url = "https://a.test/x.css"
    head = ("Network.responseReceivedEarlyHints", {"requestId": "0", "headers": {"link": "x"}})
    log = log_of(head, asked("1", 1000.0, url), answered("1", 1000.1, fromEarlyHints=True))
    assert log.has_early_hints
    assert only(log).as_record()["from_early_hints"] is True
    plain = log_of(asked("1", 1000.0, url), answered("1", 1000.1))
    assert not plain.has_early_hints
    assert "from_early_hints" not in only(plain).as_record()


def test_a_redirect_is_two_objects():
    log = log_of(
        asked("1", 1000.0, "https://a.test/old"),
        asked("1", 1000.1, "https://a.test/new", redirectResponse=response(status=301)),
        answered("1", 1000.2),
        finished("1", 1000.3, 900),
    )
    old, new = log.objects(START_S)
    assert (old.status, old.encoded_bytes, old.finished_ms) == (301, 120, 100.0)
    assert (new.status, new.encoded_bytes, new.started_ms) == (200, 900, 100.0)


def test_a_failure_keeps_its_reason_and_what_arrived():
    log = log_of(
        asked("1", 1000.0, "https://a.test/x"),
        answered("1", 1000.1),
        ("Network.dataReceived", {"requestId": "1", "encodedDataLength": 400}),
        failed("1", 1000.2, blockedReason="csp"),
    )
    loaded = only(log)
    assert loaded.failed == "net::ERR_ABORTED (csp)"
    assert loaded.encoded_bytes == 520
    assert loaded.finished_ms == 200.0


def test_a_page_that_cannot_be_decoded_is_told_from_its_parts():
    undecodable = {"errorText": "net::ERR_CONTENT_DECODING_FAILED"}
    page = asked("1", 1000.0, "https://a.test/", type="Document", frameId="M")
    frame = asked("2", 1000.1, "https://a.test/f", type="Document", frameId="F")
    part = asked("3", 1000.1, "https://a.test/x.png", frameId="M")
    parts = failed("2", 1000.2, **undecodable), failed("3", 1000.2, **undecodable)
    assert log_of(page, frame, part, *parts, failed("1", 1000.3)).page_error == ""
    whole = log_of(page, frame, part, *parts, failed("1", 1000.3, **undecodable))
    assert whole.page_error == "net::ERR_CONTENT_DECODING_FAILED"


def test_an_unanswered_request_is_kept_and_waited_for():
    log = log_of(asked("1", 1000.0, "https://a.test/slow"))
    assert log.waits
    loaded = only(log)
    assert (loaded.status, loaded.finished_ms, loaded.protocol) == (None, None, None)


def test_sources():
    log = log_of(
        asked("1", 1000.0, "data:image/gif;base64,AA"),
        asked("2", 1000.1, "https://a.test/again.png"),
        ("Network.requestServedFromCache", {"requestId": "2"}),
        answered("2", 1000.2),
        finished("2", 1000.2, 0),
        asked("3", 1000.3, "https://a.test/worker"),
        answered("3", 1000.4, fromServiceWorker=True),
        asked("4", 1000.5, "https://a.test/prefetched"),
        answered("4", 1000.6, fromPrefetchCache=True),
    )
    assert [item.source for item in log.objects(START_S)] == [
        "data",
        "cache",
        "service-worker",
        "cache",
    ]
    # Of a cached answer the times of the load that filled the cache would be wrong.
    assert log.objects(START_S)[1].response_ms == 200.0


def test_what_stays_open_on_purpose_is_not_waited_for():
    assert not log_of(asked("1", 1000.0, "https://a.test/events", type="EventSource")).waits
    log = log_of(("Network.webSocketCreated", {"requestId": "2", "url": "wss://a.test/chat"}))
    assert not log.waits
    assert log.objects(START_S) == (), "not asked for yet"
    log.handle_event(
        "Network.webSocketWillSendHandshakeRequest", {"requestId": "2", "timestamp": 1000.5}
    )
    assert only(log).resource_type == "WebSocket"


def test_events_of_unknown_requests_are_no_activity():
    log = NetworkLog()
    for method, event in (answered("9", 1.0), finished("9", 1.0, 1), failed("9", 1.0)):
        assert not log.handle_event(method, event)
    assert not log.handle_event("Page.loadEventFired", {})


def test_objects_are_in_the_order_of_asking():
    log = log_of(
        asked("1", 1000.0, "https://a.test/1"),
        asked("2", 1000.1, "https://a.test/2"),
        finished("2", 1000.2, 1),
        finished("1", 1000.3, 1),
    )
    assert [item.url[-1] for item in log.objects(START_S)] == ["1", "2"]


def test_requests_of_frames_are_told_from_the_pages_own():
    document = {"type": "Document"}
    log = log_of(
        asked("1", 1000.0, "https://a.test/", frameId="A", **document),
        asked("2", 1000.1, "https://a.test/x.png", frameId="A"),
        asked("3", 1000.2, "https://b.test/", frameId="B", **document),
        asked("4", 1000.3, "https://b.test/y.png", frameId="B"),
        asked("5", 1000.4, "https://a.test/worker.json"),
    )
    assert [each.in_main_frame for each in log.objects(START_S)] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_requests_without_end_are_kept_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(module, "REQUESTS_MAX", 3)
    events = [asked(str(number), 1000.1, "https://a.example/x") for number in range(5)]
    events += [finished(str(number), 1000.2, 10) for number in range(5)]
    log = log_of(*events)
    assert len(log.objects(START_S)) == 3 and log.lost == 2 and not log.waits


def test_urls_are_kept_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(module, "REQUEST_CHARS_MAX", 100)
    log = log_of(asked("1", 1000.1, "data:," + "x" * 200))
    assert log.objects(START_S) == () and log.lost == 1


def fields(request_id: str, side: str, **headers: str) -> tuple[str, dict[str, Any]]:
    return f"Network.{side}ExtraInfo", {"requestId": request_id, "headers": headers}


def test_each_hop_has_the_fields_that_were_on_the_wire():
    moved = {"redirectResponse": response(status=301), "redirectHasExtraInfo": True}
    log = log_of(
        asked("1", 1000.0, "https://a.test/old"),
        fields("1", "requestWillBeSent", cookie="first"),
        asked("1", 1000.1, "https://a.test/new", **moved),
        # The wire's fields may come before or after the page's view of them.
        fields("1", "responseReceived", location="/new"),
        fields("1", "requestWillBeSent", cookie="second"),
        fields("1", "responseReceived", **{"set-cookie": "a=1\nb=2"}),
        ("Network.responseReceived", answered("1", 1000.2)[1] | {"hasExtraInfo": True}),
        ("Network.dataReceived", {"requestId": "1", "dataLength": 700, "encodedDataLength": 0}),
        finished("1", 1000.3, 900),
    )
    old, new = (item.message for item in log.objects(START_S))
    assert old.request_fields == (("cookie", "first"),)
    assert old.response_fields == (("location", "/new"),)
    assert new.request_fields == (("cookie", "second"),)
    assert new.response_fields == (("set-cookie", "a=1"), ("set-cookie", "b=2"))
    assert (new.response_head_bytes, new.content_bytes) == (120, 700)


def test_a_browsers_own_redirect_takes_no_fields_of_the_wire():
    moved = {"redirectResponse": response(status=307, headers={"location": "https://a.test/"})}
    log = log_of(
        asked("1", 1000.0, "http://a.test/"),
        asked("1", 1000.1, "https://a.test/", **moved),
        fields("1", "requestWillBeSent", **{":path": "/", "accept": "*/*"}),
        ("Network.responseReceived", answered("1", 1000.2)[1] | {"hasExtraInfo": True}),
        fields("1", "responseReceived", server="x"),
        finished("1", 1000.3, 900),
    )
    own, real = (item.message for item in log.objects(START_S))
    assert own.response_fields == (("location", "https://a.test/"),)
    assert real.request_fields == (("accept", "*/*"),)
    assert real.response_fields == (("server", "x"),)


def test_fields_beyond_the_bound_are_dropped_and_their_objects_kept(monkeypatch):
    monkeypatch.setattr(module, "REQUEST_CHARS_MAX", 60)
    log = log_of(
        asked("1", 1000.0, "https://a.test/"),
        fields("1", "responseReceived", long="x" * 100),
        finished("1", 1000.3, 900),
    )
    assert only(log).message.response_fields == ()
