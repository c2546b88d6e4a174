"""Whatever a browser answers of a page's timings, the load ends with an outcome: both drivers, with
a browser that answers mutants."""

import json
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from mutants import mutants
from page_answers import ANSWER, ORIGIN_MS

from eyelevel.base.errors import BrowserError
from eyelevel.browser.chromium import load as chromium
from eyelevel.browser.firefox import load as firefox
from eyelevel.browser.firefox.tab import FirefoxTab
from eyelevel.browser.observations import LoadSettings, Navigation
from eyelevel.browser.waiting import Phases, rule_from_now

SETTINGS = LoadSettings("https://a.example/")
MUTANTS = 200
FRAME = "F1"

Collected = tuple[Navigation, str]


class AnsweringPipe:
    """A Chromium whose page answers `self.value`."""

    dropped = 0

    def __init__(self) -> None:
        self.value: Any = None
        self.on_event: Callable[..., None] = lambda *_: None

    def send(self, *_: Any) -> None:
        pass

    def call(self, method: str, *_: Any) -> dict[str, Any]:
        answers = {
            "Page.createIsolatedWorld": {"executionContextId": 3},
            "Runtime.evaluate": {"result": {"value": self.value}},
        }
        return answers.get(method, {})


def of_chromium(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Collected]:
    pipe = AnsweringPipe()
    monkeypatch.setattr(chromium, "DevTools", lambda *_: pipe)
    browser = SimpleNamespace(to_browser_fd=-1, from_browser_fd=-1, session=None)

    def collected(value: Any) -> Collected:
        load = chromium._Load(SETTINGS, browser, 1000.0)  # type: ignore[arg-type]
        load._main_frame = FRAME
        load._document = chromium.DocumentEvents(FRAME)
        for name, at_s in (("init", 1000.05), ("DOMContentLoaded", 1000.295), ("load", 1000.5)):
            at = {"frameId": FRAME, "loaderId": "L", "name": name, "timestamp": at_s}
            load._document.handle_event("Page.lifecycleEvent", at)
        pipe.value = value
        navigation = load._collect("complete")
        return navigation, load._raw_load("complete", "", False, navigation).timings_refused

    return collected


def of_firefox(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Collected]:
    said: list[str] = []
    reply = SimpleNamespace(
        call=lambda *_: {"type": "success", "result": {"value": said[-1]}}, on_event=None
    )

    def collected(value: Any) -> Collected:
        said.append(json.dumps(value))
        browser = SimpleNamespace(session=None)
        load = firefox._Load(SETTINGS, browser, None, 0.0)  # type: ignore[arg-type]
        load._tab = FirefoxTab(reply, SETTINGS, "153", Phases(0.0))  # type: ignore[arg-type]
        load._tab.context = "tab"
        load._tab.follow(rule_from_now(SETTINGS))
        at = {"context": "tab", "timestamp": ORIGIN_MS + 499.0}
        load._tab._handle_event("browsingContext.load", at)
        _, navigation = load._collect()
        return navigation, load._timings_refused

    return collected


DRIVERS = pytest.mark.parametrize("driver", [of_chromium, of_firefox])


@DRIVERS
def test_a_sound_answer_is_taken(driver: Callable, monkeypatch: pytest.MonkeyPatch):
    navigation, refused = driver(monkeypatch)(ANSWER)
    assert (navigation.page_load_time_ms, refused) == (pytest.approx(500.0), "")


@DRIVERS
def test_a_false_answer_gives_a_reason_and_no_number(
    driver: Callable, monkeypatch: pytest.MonkeyPatch
):
    for false in ({"load": 5.0, "loadStart": 5.0}, {"load": "x"}, {"tasks": [[1.0]]}):
        navigation, refused = driver(monkeypatch)({**ANSWER, **false})
        assert refused and navigation == Navigation(documents=navigation.documents)


@DRIVERS
def test_no_mutant_of_an_answer_is_a_traceback(driver: Callable, monkeypatch: pytest.MonkeyPatch):
    collected, chance, refused = driver(monkeypatch), random.Random(6), 0
    for mutant in mutants(ANSWER, chance, MUTANTS):
        try:
            navigation, reason = collected(mutant)
        except BrowserError:
            refused += 1
            continue
        refused += bool(reason)
        assert reason == "" or navigation.page_load_time_ms is None
        load_ms = navigation.page_load_time_ms
        assert load_ms is None or 480 <= load_ms <= 520
    assert refused > MUTANTS / 2
