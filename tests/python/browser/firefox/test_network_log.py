from eyelevel.browser.firefox import tab as module
from eyelevel.browser.firefox.tab import BiDiNetworkLog

START_MS = 1_700_000_000_000.0


def event(name: str, redirects: int = 0, **more):
    timings = {key: START_MS + at for key, at in more.pop("timings", {"requestTime": 1.0}).items()}
    request = {
        "request": more.pop("id", "7"),
        "url": more.pop("url", "https://a.example/"),
        "method": "GET",
        "destination": more.pop("destination", "document"),
        "timings": {"timeOrigin": 0, **timings},
    }
    return f"network.{name}", {"request": request, "redirectCount": redirects, **more}


TIMINGS = {
    "requestTime": 1.0,
    "dnsStart": 2.0,
    "dnsEnd": 3.0,
    "connectStart": 3.0,
    "connectEnd": 50.0,
    "tlsStart": 26.0,
    "tlsEnd": 50.0,
    "requestStart": 51.0,
    "responseStart": 80.0,
    "responseEnd": 90.0,
}
RESPONSE = {"status": 200, "protocol": "h3", "bytesReceived": 1234, "mimeType": "text/html;x=y"}


def test_an_object_has_its_phases_on_the_loads_clock():
    log = BiDiNetworkLog()
    assert log.handle_event(*event("beforeRequestSent"))
    assert log.waits
    log.handle_event(*event("responseStarted", response=RESPONSE))
    assert log.waits
    assert log.handle_event(*event("responseCompleted", timings=TIMINGS, response=RESPONSE))
    assert not log.waits
    (item,) = log.objects(START_MS)
    assert (item.protocol, item.status, item.encoded_bytes) == ("h3", 200, 1234)
    assert (item.lookup_ms, item.connect_ms, item.tls_ms) == ((2, 3), (3, 50), (26, 50))
    assert (item.started_ms, item.sent_ms, item.response_ms, item.finished_ms) == (1, 51, 80, 90)
    assert item.mime_type == "text/html" and item.resource_type == "Document"


def test_each_hop_of_a_redirect_is_an_object_and_a_failure_is_one_too():
    log = BiDiNetworkLog()
    log.handle_event(*event("beforeRequestSent"))
    log.handle_event(*event("responseCompleted", response={**RESPONSE, "status": 302}))
    log.handle_event(*event("beforeRequestSent", 1, url="https://b.example/"))
    log.handle_event(*event("fetchError", 1, url="https://b.example/", errorText="NS_ERROR_X"))
    assert not log.waits
    assert [(item.status, item.failed) for item in log.objects(START_MS)] == [
        (302, None),
        (None, "NS_ERROR_X"),
    ]


def test_what_never_reaches_the_network_is_told_apart():
    log = BiDiNetworkLog()
    assert not log.handle_event(*event("beforeRequestSent", url="data:,", destination="image"))
    log.handle_event(*event("responseCompleted", url="data:,", response={"protocol": "data"}))
    (item,) = log.objects(START_MS)
    assert item.source == "data" and item.protocol is None


def test_when_a_navigations_own_answer_came():
    log = BiDiNetworkLog()
    for redirects, at_ms in ((0, 30.0), (1, 80.0)):
        timings = {**TIMINGS, "responseStart": at_ms}
        log.handle_event(*event("beforeRequestSent", redirects, navigation="n1"))
        answered = {"timings": timings, "response": RESPONSE}
        log.handle_event(*event("responseCompleted", redirects, **answered))
    log.handle_event(*event("beforeRequestSent", id="8", timings=TIMINGS))
    assert log.response_ms("n1") == START_MS + 80.0, "of the last hop"
    assert log.response_ms("n2") is None
    kept = {"navigation": "n2", "id": "9", "timings": TIMINGS}
    log.handle_event(*event("beforeRequestSent", **kept))
    log.handle_event(*event("responseCompleted", **kept, response={**RESPONSE, "fromCache": True}))
    assert log.response_ms("n2") is None, "it has the times of another load"


def test_requests_without_end_are_kept_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(module, "REQUESTS_MAX", 3)
    log = BiDiNetworkLog()
    for number in range(5):
        log.handle_event(*event("beforeRequestSent", id=str(number)))
    for number in range(5):
        log.handle_event(*event("responseCompleted", id=str(number), response=RESPONSE))
    assert len(log.objects(START_MS)) == 3 and log.lost >= 2
    assert not log.waits


def test_urls_are_kept_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(module, "REQUEST_CHARS_MAX", 100)
    log = BiDiNetworkLog()
    log.handle_event(*event("beforeRequestSent", url="https://a.example/" + "x" * 200))
    assert log.objects(START_MS) == () and log.lost == 1
