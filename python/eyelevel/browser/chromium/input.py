"""User input in Chromium: real events by DevTools' `Input` domain."""

from __future__ import annotations

import time
from collections.abc import Callable

from eyelevel.base.errors import CommandError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.chromium.capture import FrameCapture
from eyelevel.browser.chromium.devtools import DevTools
from eyelevel.browser.messages import first_line, refusal_of
from eyelevel.browser.page_timings import NavigationClock
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

Send = Callable[[str, JsonObject], None]


class DevToolsInput:
    """Implements `PageInput` for one page; `follow` is called with the quiet rule of each step."""

    def __init__(
        self,
        devtools: DevTools,
        page: str,
        viewport_px: tuple[int, int],
        capture: FrameCapture,
        clock: NavigationClock,
        lifecycle_s: dict[str, float],
        follow: Callable[[QuietRule], None],
    ) -> None:
        self._devtools = devtools
        self._page = page
        self._viewport_px = viewport_px
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
        if step.verb == "script":
            parameters = {"expression": step.argument, "userGesture": True, "returnByValue": False}
            return lambda fail: self._send(fail)("Runtime.evaluate", parameters)
        if step.verb == "scroll":
            width, height = self._viewport_px
            delta = PAGE_END_PX if step.scroll_px is None else step.scroll_px
            wheel = {"type": "mouseWheel", "x": width / 2, "y": height / 2, "deltaX": 0}
            event = {**wheel, "deltaY": delta}
            return lambda fail: self._send(fail)("Input.dispatchMouseEvent", event)
        x, y = self._place_of(step.argument)
        return lambda fail: _click(self._send(fail), x, y)

    def _send(self, fail: Callable[[str], None]) -> Send:
        def send(method: str, parameters: JsonObject) -> None:
            answered = self._inputs.count_input(fail, _problem)
            self._devtools.send(method, parameters, self._page, answered)

        return send

    def _place_of(self, selector: str) -> tuple[float, float]:
        """Scroll an element into view; returns its centre, CSS pixels.

        Raises `CommandError` if none.
        """
        root = self._call("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
        element = self._call("DOM.querySelector", {"nodeId": root, "selector": selector})
        if not element["nodeId"]:
            raise CommandError(NO_ELEMENT)
        node = {"nodeId": element["nodeId"]}
        self._call("DOM.scrollIntoViewIfNeeded", node)
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
