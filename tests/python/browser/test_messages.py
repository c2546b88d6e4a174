"""No message of a browser is a traceback: mutants of real ones, through each browser's handlers."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from browser_messages import CHROMIUM_EVENTS, FIREFOX_EVENTS, MAIN_FRAME, TAB
from mutants import mutants
from pydantic import TypeAdapter

from eyelevel.base.errors import BrowserError, BrowserMessageError, BrowserStartError
from eyelevel.browser.chromium.capture import Screencast
from eyelevel.browser.chromium.load import ConsoleErrors, DocumentEvents
from eyelevel.browser.chromium.messages import CHROMIUM
from eyelevel.browser.chromium.network_log import NetworkLog
from eyelevel.browser.firefox.bidi import FIREFOX
from eyelevel.browser.firefox.tab import BiDiNetworkLog
from eyelevel.browser.messages import Messages, bytes_of, parse_message
from eyelevel.browser.observations import ObjectLoad
from eyelevel.browser.page_timings import NavigationClock
from eyelevel.store.schema import LoadedObject

OBJECT = TypeAdapter(LoadedObject)
ROUNDS = 30
"""Of every event: more than 400 mutants for each browser."""


def raw_of(message: Any) -> str:
    return json.dumps(message)


def heard(messages: Messages, samples: list[tuple[str, dict]], take: Callable) -> int:
    """Mutants of each of the events in a row of sound ones; how many were refused."""
    chance, refused = random.Random(5), 0
    for place in range(len(samples)):
        for mutant in mutants(samples[place][1], chance, ROUNDS):
            row = [*samples[:place], (samples[place][0], mutant), *samples[place + 1 :]]
            sink = take()
            try:
                for method, parameters in row:
                    message = parse_message(raw_of({"method": method, "params": parameters}))
                    found = messages.event(method, message["params"])
                    if found is not None:
                        sink(method, found)
            except BrowserError as error:
                assert isinstance(error, BrowserMessageError | BrowserStartError), error
                assert "\n" not in str(error) and len(str(error)) < 400
                refused += 1
            sink("", {})
    return refused


def check_objects(objects: tuple[ObjectLoad, ...]) -> None:
    """They are what a record takes, and their times are numbers."""
    for item in objects:
        record = item.as_record()
        OBJECT.validate_python(record)
        json.dumps(record, allow_nan=False).encode()


class _Pipe:
    def send(self, *_: object) -> None:
        pass


def chromium_load() -> Callable[[str, dict], None]:
    """What a load makes of Chromium's events."""
    network, console, document = NetworkLog(), ConsoleErrors(), DocumentEvents(MAIN_FRAME)
    clock, capture = NavigationClock(1000.0), Screencast()
    capture._devtools = _Pipe()  # type: ignore[assignment]

    def take(method: str, parameters: dict) -> None:
        if not method:
            check_objects(network.objects(clock.first_start_s))
            assert all(isinstance(text, str) for text in console.texts)
            capture.frames(clock.first_start_s)
            return
        network.handle_event(method, parameters)
        console.handle_event(method, parameters)
        document.handle_event(method, parameters)
        capture.handle_event(method, parameters)
        if method == "Network.requestWillBeSent":
            clock.handle_request(parameters)

    return take


def firefox_load() -> Callable[[str, dict], None]:
    """What a load makes of Firefox's events."""
    network = BiDiNetworkLog()

    def take(method: str, parameters: dict) -> None:
        if not method:
            check_objects(network.objects(network.first_request_ms() or 0.0))
            network.response_ms(TAB)
            return
        network.handle_event(method, parameters)

    return take


def test_the_samples_are_taken_whole():
    for messages, samples in ((CHROMIUM, CHROMIUM_EVENTS), (FIREFOX, FIREFOX_EVENTS)):
        for method, parameters in samples:
            assert messages.event(method, parameters) is not None, method


def test_mutants_of_chromiums_events():
    assert len(CHROMIUM_EVENTS) * ROUNDS >= 400
    assert heard(CHROMIUM, CHROMIUM_EVENTS, chromium_load) > len(CHROMIUM_EVENTS) * ROUNDS / 4


def test_mutants_of_firefoxes_events():
    assert len(FIREFOX_EVENTS) * ROUNDS >= 200
    assert heard(FIREFOX, FIREFOX_EVENTS, firefox_load) > len(FIREFOX_EVENTS) * ROUNDS / 4


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[1]",
        b"\xff\xfe",
        b'{"id":' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
    ],
)
def test_what_is_no_message(raw: bytes):
    with pytest.raises(BrowserMessageError):
        parse_message(raw)


def test_half_a_character_is_none():
    text = parse_message(rb'{"params": {"text": "a\ud800b", "whole": "\ud83d\ude00"}}')["params"]
    assert text == {"text": "a?b", "whole": "\U0001f600"}


def test_what_is_no_base64():
    assert bytes_of("YWI=") == b"ab"
    for text in ("YWI", "%%%%", "\x00", "ü"):
        with pytest.raises(BrowserMessageError):
            bytes_of(text)


def test_what_has_no_shape_is_not_looked_at_and_further_keys_are_dropped():
    assert CHROMIUM.event("Network.somethingNew", "x") is None
    assert CHROMIUM.answer("Page.enable", 7) == {}
    at = {"timestamp": 5.0, "further": {"anything": 1}}
    assert CHROMIUM.event("Page.loadEventFired", at) == {"timestamp": 5.0}
