"""What is read of a network log: times in the scheduler, triggers, what was under way at once."""

import gzip
import json

from eyelevel.browser.chromium.request_scheduling import read_network_log, request_scheduling

TYPES = (
    "REQUEST_ALIVE",
    "DELEGATE_INFO",
    "RESOURCE_SCHEDULER_REQUEST_STARTED",
    "URL_REQUEST_START_JOB",
    "HTTP_STREAM_REQUEST",
    "HTTP_TRANSACTION_SEND_REQUEST",
    "HTTP_TRANSACTION_READ_HEADERS",
)
# Numbers as another version of Chromium may have them: nothing but the names may count.
CONSTANTS = {
    "logEventTypes": {name: number * 7 for number, name in enumerate(TYPES)},
    "logEventPhase": {"PHASE_NONE": 5, "PHASE_BEGIN": 3, "PHASE_END": 4},
    "logSourceType": {"URL_REQUEST": 9},
}


def event(name: str, at_ms: int, source: int, phase: str = "NONE", **params: str) -> dict:
    return {
        "type": CONSTANTS["logEventTypes"][name],
        "phase": CONSTANTS["logEventPhase"][f"PHASE_{phase}"],
        "time": str(at_ms),
        "source": {"id": source, "type": 9},
        "params": params,
    }


def request(
    source: int, url: str, times_ms: tuple[int, ...], priority: str = "LOWEST", trigger: str = ""
) -> list[dict]:
    """Handed over, started, connected, answered, ended at these times; held where it says why."""
    alive, started, connected, answered, ended = times_ms
    held = [
        event("DELEGATE_INFO", alive, source, "BEGIN", delegate_blocked_by="ResourceScheduler"),
        event("RESOURCE_SCHEDULER_REQUEST_STARTED", started, source, trigger=trigger),
    ]
    return [
        event("REQUEST_ALIVE", alive, source, "BEGIN", url=url, priority=priority),
        *(held if trigger else []),
        event("URL_REQUEST_START_JOB", started, source, "BEGIN"),
        event("HTTP_STREAM_REQUEST", started, source, "BEGIN"),
        event("HTTP_STREAM_REQUEST", connected, source, "END"),
        event("HTTP_TRANSACTION_SEND_REQUEST", connected, source, "BEGIN"),
        event("HTTP_TRANSACTION_READ_HEADERS", answered, source, "END"),
        event("REQUEST_ALIVE", ended, source, "END"),
    ]


def log(*events: list[dict]) -> dict:
    return {"constants": CONSTANTS, "events": [one for each in events for one in each]}


def test_a_request_that_is_held_says_how_long_and_by_what_it_was_let_go():
    held = request(1, "https://a.test:8443/1.png", (100, 350, 360, 400, 500), trigger="COMPLETION")
    free = request(2, "https://b.test/2.css", (90, 90, 120, 130, 140), priority="HIGHEST")
    read = request_scheduling(log(held, free))
    first, second = read.requests
    assert (first.host, first.started_ms, first.trigger) == ("b.test", 90, None)
    assert (second.host, second.started_ms) == ("a.test:8443", 350)
    assert (second.connected_ms, second.response_ms, second.ended_ms) == (360, 400, 500)
    assert read.held_back() == (second,)


def test_waits_for_a_hosts_connection_and_first_response_are_told_apart():
    first = request(1, "https://a.test/1", (100, 100, 300, 400, 410))
    held = request(2, "https://a.test/2", (150, 420, 420, 500, 510), trigger="COMPLETION")
    early = request(3, "https://a.test/3", (200, 350, 420, 500, 510), trigger="COMPLETION")
    later = request(4, "https://a.test/4", (405, 420, 420, 500, 510), trigger="COMPLETION")
    unreached = request(5, "https://b.test/5", (500, 520, 530, 540, 550), trigger="COMPLETION")
    read = request_scheduling(log(first, held, early, later, unreached))
    assert [read.waits_ms(each) for each in read.requests] == [
        (0, 0, 0),
        (150, 100, 20),
        (100, 50, 0),
        (0, 0, 15),
        (20, 0, 0),
    ]


def test_what_is_under_way_at_once_is_of_low_priority_and_by_host():
    events = [
        *request(1, "https://a.test/1", (0, 0, 5, 8, 10)),
        *request(2, "https://a.test/2", (0, 0, 5, 8, 20), priority="LOW"),
        *request(3, "https://b.test/3", (0, 0, 5, 8, 20)),
        *request(4, "https://a.test/4", (0, 0, 5, 8, 20), priority="MEDIUM"),
        # Starts when the first one ends, which is no third at once.
        *request(5, "https://a.test/5", (0, 10, 11, 15, 20), trigger="COMPLETION"),
    ]
    assert request_scheduling(log(events)).in_flight_max() == {"a.test": 2, "b.test": 1, "": 3}


def test_requests_of_others_and_of_before_are_left_out():
    own = request(1, "https://a.test/page", (100, 100, 110, 120, 130))
    before = request(2, "https://a.test/page", (50, 50, 60, 70, 80))
    browsers = request(3, "https://update.test/", (105, 105, 110, 120, 130))
    local = request(4, "data:,x", (105, 105, 110, 120, 130))
    read = request_scheduling(log(own, before, browsers, local), {"https://a.test/page"}, 90.0)
    assert [each.alive_ms for each in read.requests] == [100]
    # A fragment stays in the browser.
    url = "https://a.test/page#top"
    assert len(request_scheduling(log(request(1, url, (1, 1, 2, 3, 4))), {url[:-4]}).requests) == 1


def test_one_that_never_left_was_held_and_one_without_a_beginning_is_none():
    begun = [
        event("REQUEST_ALIVE", 10, 1, "BEGIN", url="https://a.test/1", priority="IDLE"),
        event("DELEGATE_INFO", 10, 1, "BEGIN", delegate_blocked_by="ResourceScheduler"),
    ]
    read = request_scheduling(log(begun, request(2, "https://a.test/2", (1, 1, 2, 3, 4))[1:]))
    (only,) = read.requests
    assert (only.trigger, only.started_ms) == ("", None)
    assert read.waits_ms(only) is None and read.held_back() == (only,)
    assert read.in_flight_max() == {}


def test_a_log_is_read_as_it_stands_beside_a_record():
    written = log(request(1, "https://a.test/1", (1, 2, 3, 4, 5)))
    assert read_network_log(gzip.compress(json.dumps(written).encode())) == written
