"""What a user does after the load: each step with its own time zero and its own end.

Input is real input (DevTools' `Input` domain), so that the page's handlers, lazy images and links
do what they do for people. A step's time zero is the moment before its input is sent; it ends as a
load does, when nothing was requested or painted for the quiet second, or at the cap. A click that
opens another page waits for that page's load event.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from eyelevel.browser.capture import FrameCapture
from eyelevel.browser.devtools import DevTools
from eyelevel.browser.errors import CommandError
from eyelevel.browser.network_log import NetworkLog
from eyelevel.browser.observations import LoadSettings, RawLoad, StepLoad
from eyelevel.browser.quiet import QuietRule
from eyelevel.plan.after_load import Step

FIND_TIMEOUT_S = 5.0
"""For an element that is clicked to be found and scrolled into view."""

CHECK_TIMEOUT_S = 15.0
"""For the picture that a step's last frame is compared with."""

PAGE_END_PX = 10_000_000
"""Further than any page is long."""

Send = Callable[[str, dict[str, Any]], None]


class AfterLoad:
    """Runs the steps of a load; `begin_step` tells the load's driver of each one's rule."""

    def __init__(
        self,
        devtools: DevTools,
        page: str,
        settings: LoadSettings,
        network: NetworkLog,
        capture: FrameCapture,
        begin_step: Callable[[QuietRule], None],
        lifecycle_s: Mapping[str, float],
        navigation_start_s: float,
    ) -> None:
        self._devtools = devtools
        self._page = page
        self._settings = settings
        self._network = network
        self._capture = capture
        self._begin_step = begin_step
        self._lifecycle_s = lifecycle_s
        self._navigation_start_s = navigation_start_s
        self._failed = ""

    def run(self, step: Step, documents: Callable[[], int]) -> StepLoad:
        """Do one step and wait for its end; its objects and frames are `split_by_steps`'.

        Raises `BrowserGoneError` and `DeadlineError` as `DevTools.call` does.
        """
        self._failed = ""
        try:
            act = self._prepared(step)
        except CommandError as error:
            now_ms = self._ms(time.monotonic())
            return StepLoad(step.text, now_ms, now_ms, failed=f"`{step.text}`: {error}")
        before = documents()
        started_s = time.monotonic()
        settings = self._settings
        rule = QuietRule(started_s, settings.timeout_s, settings.quiet_s, settings.cap_s)
        rule.handle_load_event(started_s)
        self._begin_step(rule)
        act()
        capped = self._wait(rule, step)
        matches = None
        if not capped and not self._failed:
            deadline = time.monotonic() + CHECK_TIMEOUT_S
            matches = self._capture.final_picture_matches(deadline)
        return StepLoad(
            step=step.text,
            started_ms=self._ms(started_s),
            ended_ms=self._ms(time.monotonic()),
            documents=documents() - before,
            load_event_ms=self._lifecycle_ms("load"),
            first_contentful_paint_ms=self._lifecycle_ms("firstContentfulPaint"),
            capped=capped,
            final_picture_matches=matches,
            failed=self._failed or None,
        )

    def _ms(self, at_s: float) -> float:
        return round((at_s - self._navigation_start_s) * 1e3, 3)

    def _lifecycle_ms(self, event: str) -> float | None:
        """Of the page that the step opened; None where it opened none."""
        at_s = self._lifecycle_s.get(event)
        return None if at_s is None else self._ms(at_s)

    def _wait(self, rule: QuietRule, step: Step) -> bool:
        """Until the step's end; whether the cap ended it."""
        while True:
            self._devtools.pump(rule.next_deadline(self._network.waits))
            if self._failed:
                return False
            verdict = rule.verdict(time.monotonic(), self._network.waits)
            if verdict == "timeout":
                limit = self._settings.timeout_s
                self._failed = f"`{step.text}`: the next page had no load event within {limit:g} s"
                return False
            if verdict != "loading":
                return verdict == "capped"

    def _prepared(self, step: Step) -> Callable[[], None]:
        """What does the step; all that has to be found out first is known by then."""

        def send(method: str, parameters: dict[str, Any]) -> None:
            def note(reply: dict[str, Any]) -> None:
                self._note_failure(step, reply)

            self._devtools.send(method, parameters, self._page, note)

        if step.verb == "script":
            asked = {"expression": step.argument, "userGesture": True, "returnByValue": False}
            return lambda: send("Runtime.evaluate", asked)
        if step.verb == "scroll":
            width, height = self._settings.viewport_px
            delta = PAGE_END_PX if step.scroll_px is None else step.scroll_px
            wheel = {"type": "mouseWheel", "x": width / 2, "y": height / 2, "deltaX": 0}
            return lambda: send("Input.dispatchMouseEvent", {**wheel, "deltaY": delta})
        x, y = self._place_of(step.argument)
        return lambda: _click(send, x, y)

    def _place_of(self, selector: str) -> tuple[float, float]:
        """The middle of an element, scrolled into view; CommandError where there is none."""
        root = self._call("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
        found = self._call("DOM.querySelector", {"nodeId": root, "selector": selector})
        if not found["nodeId"]:
            raise CommandError("no element of the page matches the selector")
        node = {"nodeId": found["nodeId"]}
        self._call("DOM.scrollIntoViewIfNeeded", node)
        quads = self._call("DOM.getContentQuads", node)["quads"]
        if not quads:
            raise CommandError("the element is not shown")
        quad = quads[0]
        return sum(quad[0::2]) / 4, sum(quad[1::2]) / 4

    def _call(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        deadline = time.monotonic() + FIND_TIMEOUT_S
        return self._devtools.call(method, parameters, self._page, deadline)

    def _note_failure(self, step: Step, reply: dict[str, Any]) -> None:
        thrown = reply.get("result", {}).get("exceptionDetails")
        if thrown is not None:
            text = thrown.get("exception", {}).get("description") or thrown["text"]
            self._failed = f"`{step.text}`: {text.splitlines()[0]}"
        elif "error" in reply:
            self._failed = f"`{step.text}`: {reply['error'].get('message')}"


def _click(send: Send, x: float, y: float) -> None:
    at = {"x": x, "y": y, "button": "left", "clickCount": 1}
    send("Input.dispatchMouseEvent", {"type": "mousePressed", **at})
    send("Input.dispatchMouseEvent", {"type": "mouseReleased", **at})


def split_by_steps(raw: RawLoad, steps: Sequence[StepLoad]) -> RawLoad:
    """The load with what came before its first step, and each step with its own part.

    A step's first frame is what was there when it began.
    """
    if not steps:
        return raw
    starts_ms = [step.started_ms for step in steps]
    done = []
    for step, end_ms in zip(steps, [*starts_ms[1:], math.inf], strict=True):
        start_ms = step.started_ms
        there = [frame for frame in raw.frames if frame.at_ms <= start_ms][-1:]
        shown = [frame for frame in raw.frames if start_ms < frame.at_ms <= end_ms]
        objects = [item for item in raw.objects if start_ms <= item.started_ms < end_ms]
        done.append(replace(step, objects=tuple(objects), frames=(*there, *shown)))
    return replace(
        raw,
        objects=tuple(item for item in raw.objects if item.started_ms < starts_ms[0]),
        frames=tuple(frame for frame in raw.frames if frame.at_ms <= starts_ms[0]),
        after_load=tuple(done),
    )
