"""User input in Chromium: real events by DevTools' `Input` domain."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from eyelevel.base.errors import CommandError, PageAnswerError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.chromium.capture import FrameCapture
from eyelevel.browser.chromium.devtools import DevTools
from eyelevel.browser.interactions import OBSERVE_SCRIPT, READ_SCRIPT, interactions_from
from eyelevel.browser.messages import first_line, refusal_of
from eyelevel.browser.observations import Interaction, LoadSettings
from eyelevel.browser.page_timings import WORLD, NavigationClock
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
from eyelevel.plan.steps import Key, Step

KEY_PAUSE_S = 0.1
"""Seconds between two keys of a text: a fast typist's."""

Send = Callable[[str, JsonObject], None]


class DevToolsInput:
    """Implements `PageInput` for one page; `follow` is called with the quiet rule of each step."""

    def __init__(
        self,
        devtools: DevTools,
        page: str,
        main_frame: str,
        settings: LoadSettings,
        capture: FrameCapture,
        clock: NavigationClock,
        lifecycle_s: dict[str, float],
        follow: Callable[[QuietRule], None],
    ) -> None:
        self._devtools = devtools
        self._page = page
        self._main_frame = main_frame
        self._viewport_px = settings.viewport_px
        self._javascript = settings.browser.javascript
        self._clock = clock
        self._lifecycle_s = lifecycle_s
        self._follow = follow
        self._inputs = Unanswered()
        self.final_picture_matches = capture.final_picture_matches

    @property
    def unanswered(self) -> int:
        """Number of inputs sent and not yet answered."""
        return self._inputs.count

    @property
    def documents(self) -> int:
        """Number of documents that the main frame has shown."""
        return self._clock.documents

    def begin_step(self, rule: QuietRule) -> None:
        """Report all events to `rule` from now on."""
        self._follow(rule)
        self._inputs.begin_step(rule)
        self._lifecycle_s.clear()

    def read_opened_s(self) -> tuple[float | None, float | None]:
        """Return load event and First Contentful Paint of the opened page, monotonic seconds."""
        return self._lifecycle_s.get("load"), self._lifecycle_s.get("firstContentfulPaint")

    def prepare(self, step: Step) -> Act:
        """Return a function that performs the step; raises `CommandError` if that is impossible."""
        self._observe_interactions()
        if step.verb == "script":
            parameters = {"expression": step.argument, "userGesture": True, "returnByValue": False}
            return lambda fail: self._send(fail)("Runtime.evaluate", parameters)
        if step.verb == "scroll":
            width, height = self._viewport_px
            delta = PAGE_END_PX if step.scroll_px is None else step.scroll_px
            wheel = {"type": "mouseWheel", "x": width / 2, "y": height / 2, "deltaX": 0}
            event = {**wheel, "deltaY": delta}
            return lambda fail: self._send(fail)("Input.dispatchMouseEvent", event)
        if step.verb == "key":
            return lambda fail: self._press(self._send(fail), step.keys)
        node = self._find(step.selector)
        if step.verb == "type":
            self._call("DOM.focus", node)
            return lambda fail: self._press(self._send(fail), step.keys)
        x, y = self._place_of(node)
        return lambda fail: _click(self._send(fail), x, y)

    def read_interactions(self) -> tuple[tuple[Interaction, ...], int]:
        """Return the interactions since they were read last; none if scripts are off."""
        if not self._javascript:
            return (), 0
        answer = self._evaluate(READ_SCRIPT)
        offset_ms = (self._clock.last_start_s - self._clock.first_start_s) * 1e3
        return interactions_from(answer, offset_ms)

    def _observe_interactions(self) -> None:
        """Collect the document's interactions from now on; nothing runs in it without scripts."""
        if self._javascript:
            self._evaluate(OBSERVE_SCRIPT)

    def _evaluate(self, script: str) -> object:
        named = {"frameId": self._main_frame, "worldName": WORLD}
        world = self._call("Page.createIsolatedWorld", named)
        context = {"contextId": world["executionContextId"], "returnByValue": True}
        reply = self._call("Runtime.evaluate", {"expression": script, **context})
        if "exceptionDetails" in reply:
            raise PageAnswerError("the page's interactions cannot be read: the script failed there")
        return reply.get("result", {}).get("value")

    def _press(self, send: Send, keys: Sequence[Key]) -> None:
        """Press the keys one after another, each after the one before it was handled."""
        for number, key in enumerate(keys):
            if number:
                self._pump_until(time.monotonic() + KEY_PAUSE_S)
                deadline = time.monotonic() + FIND_TIMEOUT_S
                while self._inputs.count and self._devtools.pump(deadline):
                    pass
            event: JsonObject = {"key": key.name, "code": key.code}
            event["windowsVirtualKeyCode"] = key.number
            down = {"type": "keyDown", "text": key.text} if key.text else {"type": "rawKeyDown"}
            send("Input.dispatchKeyEvent", {**event, **down})
            send("Input.dispatchKeyEvent", {**event, "type": "keyUp"})

    def _pump_until(self, deadline: float) -> None:
        while self._devtools.pump(deadline):
            pass

    def _send(self, fail: Callable[[str], None]) -> Send:
        def send(method: str, parameters: JsonObject) -> None:
            answered = self._inputs.count_input(fail, _problem)
            self._devtools.send(method, parameters, self._page, answered)

        return send

    def _find(self, selector: str) -> JsonObject:
        """Find an element, scroll it into view, and return its name for further calls.

        Raises `CommandError` if there is none.
        """
        root = self._call("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
        element = self._call("DOM.querySelector", {"nodeId": root, "selector": selector})
        if not element["nodeId"]:
            raise CommandError(NO_ELEMENT)
        node = {"nodeId": element["nodeId"]}
        self._call("DOM.scrollIntoViewIfNeeded", node)
        return node

    def _place_of(self, node: JsonObject) -> tuple[float, float]:
        """Return an element's centre, CSS pixels; raises `CommandError` if it is not shown."""
        quads = self._call("DOM.getContentQuads", node)["quads"]
        if not quads:
            raise CommandError(NOT_SHOWN)
        quad = quads[0]
        return sum(quad[0::2]) / 4, sum(quad[1::2]) / 4

    def _call(self, method: str, parameters: JsonObject) -> JsonObject:
        deadline = time.monotonic() + FIND_TIMEOUT_S
        return self._devtools.call(method, parameters, self._page, deadline)


def _problem(reply: Reply) -> str | None:
    thrown = reply.get("result", {}).get("exceptionDetails")
    if thrown is not None:
        text = thrown.get("exception", {}).get("description") or thrown["text"]
        return first_line(text)
    return refusal_of(reply["error"]) if "error" in reply else None


def _click(send: Send, x: float, y: float) -> None:
    event = {"x": x, "y": y, "button": "left", "clickCount": 1}
    send("Input.dispatchMouseEvent", {"type": "mousePressed", **event})
    send("Input.dispatchMouseEvent", {"type": "mouseReleased", **event})
