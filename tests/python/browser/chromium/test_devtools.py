"""The pipe client, against the other ends of its pipes."""

import json
import os
import threading
import time
from collections.abc import Iterator

import pytest

from eyelevel.base.errors import BrowserGoneError, BrowserMessageError, CommandError, DeadlineError
from eyelevel.browser.chromium import devtools as module
from eyelevel.browser.chromium.devtools import DevTools
from eyelevel.browser.messages import Messages

ANY = dict[str, object]
MESSAGES = Messages({"A.a": ANY, "A.b": ANY, "B.b": ANY}, {"C.d": ANY})


class Browser:
    """The browser's ends: reads commands, writes what a test wants."""

    def __init__(self) -> None:
        self.reads, to_browser = os.pipe()
        from_browser, self.writes = os.pipe()
        self.descriptors = [self.reads, to_browser, from_browser, self.writes]
        self.devtools = DevTools(to_browser, from_browser, MESSAGES)

    def say(self, *messages: dict) -> None:
        for message in messages:
            os.write(self.writes, json.dumps(message).encode() + b"\0")

    def close(self) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)


@pytest.fixture
def browser() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()


def soon() -> float:
    return time.monotonic() + 20


def past() -> float:
    return time.monotonic()


def test_a_reply_is_matched_and_events_before_it_are_handled(browser: Browser):
    events = []
    browser.devtools.on_event = lambda *event: events.append(event)
    browser.say(
        {"method": "A.b", "params": {"n": 1}, "sessionId": "s"}, {"id": 1, "result": {"x": 2}}
    )
    assert browser.devtools.call("C.d", {"y": 3}, "s", soon()) == {"x": 2}
    assert events == [("A.b", {"n": 1}, "s")]
    sent = os.read(browser.reads, 1000)
    assert sent.endswith(b"\0")
    assert json.loads(sent[:-1]) == {
        "id": 1,
        "method": "C.d",
        "params": {"y": 3},
        "sessionId": "s",
    }


def test_a_refused_command(browser: Browser):
    browser.say({"id": 1, "error": {"message": "no such method"}})
    with pytest.raises(CommandError, match=r"C\.d was refused: no such method"):
        browser.devtools.call("C.d", None, "", soon())


def test_no_answer(browser: Browser):
    with pytest.raises(DeadlineError, match=r"C\.d"):
        browser.devtools.call("C.d", None, "", past())


def test_a_closed_pipe(browser: Browser):
    os.close(browser.writes)
    browser.descriptors.remove(browser.writes)
    with pytest.raises(BrowserGoneError):
        browser.devtools.call("C.d", None, "", soon())


def test_a_message_larger_than_a_pipe_arrives_in_pieces(browser: Browser):
    data = "x" * 3_000_000
    writer = threading.Thread(target=write_all, args=(browser.writes, data))
    writer.start()
    events = []
    browser.devtools.on_event = lambda method, parameters, _: events.append(parameters["data"])
    assert browser.devtools.pump(soon())
    writer.join()
    assert events == [data]


def test_two_messages_in_one_read_are_two(browser: Browser):
    events = []
    browser.devtools.on_event = lambda method, *_: events.append(method)
    browser.say({"method": "A.a"}, {"method": "B.b"})
    assert browser.devtools.pump(soon())
    assert events == ["A.a"]
    assert browser.devtools.pump(past())
    assert events == ["A.a", "B.b"]
    assert not browser.devtools.pump(past())


def write_all(descriptor: int, data: str) -> None:
    view = memoryview(json.dumps({"method": "A.b", "params": {"data": data}}).encode() + b"\0")
    while view:
        view = view[os.write(descriptor, view) :]


def test_a_flood_is_read_up_to_a_bound_and_counted(browser: Browser, monkeypatch):
    monkeypatch.setattr(module, "FLOOD_MAX", 3)
    events = []
    flooded = Messages({"Runtime.consoleAPICalled": ANY, "A.a": ANY}, {})
    browser.devtools._messages = flooded
    browser.devtools.on_event = lambda method, *_: events.append(method)
    for _ in range(5):
        os.write(browser.writes, b'{"method":"Runtime.consoleAPICalled","params":{}}\0')
    browser.say({"method": "A.a"})
    while browser.devtools.pump(past()):
        pass
    assert events == ["Runtime.consoleAPICalled"] * 3 + ["A.a"]
    assert browser.devtools.dropped == 2


def test_a_call_ends_at_its_deadline_while_events_go_on(browser: Browser):
    browser.say(*({"method": "A.a"} for _ in range(500)))
    with pytest.raises(DeadlineError):
        browser.devtools.call("C.d", None, "", past())
    assert browser.devtools.pump(past()), "most of them are there still"


def test_what_waits_is_bounded(browser: Browser, monkeypatch):
    monkeypatch.setattr(module, "QUEUE_BYTES_MAX", 100)
    browser.say(*({"method": "A.a", "params": {"x": "y" * 30}} for _ in range(3)))
    with pytest.raises(BrowserGoneError, match="more messages than can be kept"):
        browser.devtools.pump(soon())


def test_a_message_without_end_is_refused(browser: Browser, monkeypatch):
    monkeypatch.setattr(module, "MESSAGE_BYTES_MAX", 100)
    os.write(browser.writes, b"x" * 101)
    with pytest.raises(BrowserGoneError, match="longer than 100 bytes"):
        browser.devtools.pump(soon())


@pytest.mark.parametrize(
    "message",
    [
        {"method": 7},
        {"method": "A.a", "sessionId": ["s"]},
        {"method": "A.a", "params": [1]},
        {"method": "A.a", "params": None},
        {"id": 1, "result": "x"},
        {"id": 1, "result": None},
        [1],
        "x",
    ],
)
def test_a_malformed_message_is_an_error_of_the_browser(browser: Browser, message):
    browser.say(message)
    with pytest.raises(BrowserMessageError):
        browser.devtools.call("C.d", None, "", soon())


@pytest.mark.parametrize("answered", [{"id": "1"}, {"id": [1]}, {"id": 99}, {"id": None}])
def test_an_answer_to_nothing_is_nobodys(browser: Browser, answered: dict):
    browser.say(answered, {"id": 1, "error": "not an object"})
    with pytest.raises(CommandError, match="not an object"):
        browser.devtools.call("C.d", None, "", soon())
