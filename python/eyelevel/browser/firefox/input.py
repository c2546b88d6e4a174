"""User input in Firefox: real events by WebDriver BiDi's `input` module."""

from __future__ import annotations

import time
from collections.abc import Callable

from eyelevel.base.errors import CommandError, PageAnswerError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.cross_check import disagreement
from eyelevel.browser.firefox.bidi import BiDi
from eyelevel.browser.firefox.tab import FirefoxTab, text_answer
from eyelevel.browser.messages import first_line, parse_answer, refusal_of
from eyelevel.browser.observations import Interaction, LoadSettings
from eyelevel.browser.page_timings import WORLD
from eyelevel.browser.steps import (
    FIND_TIMEOUT_S,
    NO_ELEMENT,
    NOT_SHOWN,
    PAGE_END_PX,
    Act,
    Reply,
    Unanswered,
)
from eyelevel.browser.waiting import QuietRule
from eyelevel.plan.steps import Step

PLACE_FUNCTION = """(element) => {
  element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  const [box] = element.getClientRects();
  return JSON.stringify(box ? [box.x + box.width / 2, box.y + box.height / 2] : null);
}"""


PLACE_PX_MAX = 1e6


class BiDiInput:
    """Implements `PageInput` for one tab; `clock_ahead_s` is wall time minus monotonic time."""

    def __init__(
        self, bidi: BiDi, tab: FirefoxTab, settings: LoadSettings, clock_ahead_s: float
    ) -> None:
        self._bidi = bidi
        self._tab = tab
        self._settings = settings
        self._clock_ahead_s = clock_ahead_s
        self._documents = tab.documents
        self._inputs = Unanswered()

    def begin_step(self, rule: QuietRule) -> None:
        """Report all events to `rule` from now on."""
        self._tab.follow(rule)
        self._inputs.begin_step(rule)

    @property
    def unanswered(self) -> int:
        """Number of inputs sent and not yet answered."""
        return self._inputs.count

    @property
    def documents(self) -> int:
        """Number of documents that the main frame has shown."""
        return self._tab.documents

    def read_opened_s(self) -> tuple[float | None, float | None]:
        """Return load event and First Contentful Paint of the opened page, monotonic seconds."""
        if self._tab.documents == self._documents:
            return None, None
        self._documents = self._tab.documents
        answer, events = self._tab.timings(time.monotonic() + FIND_TIMEOUT_S)
        if reason := disagreement(answer, events):
            raise PageAnswerError(reason)

        def at_s(since_ms: float | None) -> float | None:
            if since_ms is None:
                return None
            return (answer["timeOrigin"] + since_ms) / 1e3 - self._clock_ahead_s

        return at_s(answer["load"]), at_s(answer["firstContentfulPaint"])

    def read_interactions(self) -> tuple[tuple[Interaction, ...], int]:
        """Return none: plans that need them are refused."""
        return (), 0

    def final_picture_matches(self, deadline: float) -> bool | None:
        """Return None: the screen recording can only be read after it ended."""
        return None

    def prepare(self, step: Step) -> Act:
        """Return a function that performs the step; raises `CommandError` if that is impossible."""
        context = {"context": self._tab.context}
        if step.verb == "script":
            parameters = {"expression": step.argument, "target": context, "awaitPromise": False}
            return self._act("script.evaluate", {**parameters, "userActivation": True})
        if step.verb == "scroll":
            width, height = self._settings.viewport_px
            delta = PAGE_END_PX if step.scroll_px is None else step.scroll_px
            turn = {"type": "scroll", "x": width // 2, "y": height // 2, "deltaX": 0}
            wheel = {"type": "wheel", "id": "wheel", "actions": [{**turn, "deltaY": delta}]}
            return self._act("input.performActions", {**context, "actions": [wheel]})
        x, y = self._place_of(step.argument)
        button = [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        actions = [{"type": "pointerMove", "x": x, "y": y}, *button]
        mouse = {"type": "pointer", "id": "mouse", "actions": actions}
        return self._act("input.performActions", {**context, "actions": [mouse]})

    def _act(self, method: str, parameters: JsonObject) -> Act:
        def act(fail: Callable[[str], None]) -> None:
            self._bidi.send(method, parameters, self._inputs.count_input(fail, _problem))

        return act

    def _place_of(self, selector: str) -> tuple[int, int]:
        """Scroll an element into view; returns its centre, CSS pixels.

        Raises `CommandError` if none.
        """
        deadline = time.monotonic() + FIND_TIMEOUT_S
        context = {"context": self._tab.context}
        find = {**context, "locator": {"type": "css", "value": selector}, "maxNodeCount": 1}
        nodes = self._bidi.call("browsingContext.locateNodes", find, deadline)["nodes"]
        if not nodes:
            raise CommandError(NO_ELEMENT)
        parameters = {
            "functionDeclaration": PLACE_FUNCTION,
            "arguments": [{"sharedId": nodes[0]["sharedId"]}],
            "target": {**context, "sandbox": WORLD},
            "awaitPromise": False,
        }
        place = parse_answer(
            text_answer(self._bidi.call("script.callFunction", parameters, deadline))
        )
        if place is None:
            raise CommandError(NOT_SHOWN)
        return _pixels(place)


def _pixels(place: object) -> tuple[int, int]:
    match place:
        case [float() | int() as x, float() | int() as y] if abs(x) < PLACE_PX_MAX > abs(y):
            return round(x), round(y)
    raise CommandError("the page did not say where the element is")


def _problem(reply: Reply) -> str | None:
    thrown = reply.get("result", {}).get("exceptionDetails")
    if thrown is not None:
        return first_line(thrown["text"])
    return refusal_of(reply) if reply.get("type") == "error" else None
