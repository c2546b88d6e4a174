"""One tab of a Firefox: its viewport, events and timings, and the end of its load."""

from __future__ import annotations

import json
import time

from eyelevel.base.errors import BrowserStartError, CommandError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.cross_check import BrowserEvents
from eyelevel.browser.firefox.bidi import BiDi
from eyelevel.browser.firefox.network_log import BiDiNetworkLog
from eyelevel.browser.messages import first_line, parse_answer, refusal_of
from eyelevel.browser.observations import UNDECODABLE, LoadEnd, LoadSettings
from eyelevel.browser.page_answer import SCRIPT, WORLD, PageAnswer, check_answer
from eyelevel.browser.phases import Phases
from eyelevel.browser.waiting import QuietRule, rule_from_now, wait_for_load

ERRORS_MAX = 50
TEXT_CHARS_MAX = 1000
EVENTS_MAX = 1000
"""Maximum number of events kept per kind and document."""

FOREIGN_MAX = 10_000
"""Maximum number of pop-up windows, and frames in them, whose events are told apart."""

WHITE_PAGE = (
    "data:text/html,<link rel=icon href=data:,><meta name=viewport content='width=device-width'>"
)
"""White start page: an empty tab would have the grey of the toolbars."""

_UNDECODABLE_PAGE = f"about:neterror?e={UNDECODABLE[1]}&"

PLACE_SCRIPT = (
    "JSON.stringify([mozInnerScreenX, mozInnerScreenY, innerWidth, innerHeight, devicePixelRatio])"
)


class FirefoxTab:
    """Drives one tab: `open`, `load`, then `close`."""

    def __init__(self, bidi: BiDi, settings: LoadSettings, version: str, phases: Phases) -> None:
        self._bidi = bidi
        self._settings = settings
        self._version = version
        self._phases = phases
        self._rule: QuietRule | None = None
        self._navigation_error = ""
        self.context = ""
        self.network = BiDiNetworkLog()
        self.console_errors: list[str] = []
        self.documents = 0
        self.shown_url = ""
        """URL of the last document."""
        self._events_ms: dict[str, list[float]] = {}
        """Event times of the last document, ms of wall time; several if it was rewritten."""
        self._navigation = ""
        self._foreign: set[str] = set()

    def open(self, deadline: float) -> None:
        """Open an empty page with the requested viewport and user agent."""
        call, settings = self._bidi.call, self._settings
        self._bidi.on_event = self._handle_event
        self.context = call("browsingContext.create", {"type": "tab"}, deadline)["context"]
        blank = {"context": self.context, "url": WHITE_PAGE, "wait": "complete"}
        call("browsingContext.navigate", blank, deadline)
        width, height = settings.viewport_px
        viewport = {"context": self.context, "viewport": {"width": width, "height": height}}
        call("browsingContext.setViewport", viewport, deadline)
        agent = settings.user_agent
        if settings.mobile and agent is None:
            agent = mobile_user_agent(self._version)
        if agent is not None:
            parameters = {"userAgent": agent, "contexts": [self.context]}
            call("emulation.setUserAgentOverride", parameters, deadline)

    def close(self, deadline: float) -> None:
        """Close the tab; the browser keeps running."""
        self._bidi.call("browsingContext.close", {"context": self.context}, deadline)

    def place_px(self, deadline: float) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the page's position on the screen and its size, device pixels.

        Raises `BrowserStartError` if the viewport is not the requested one.
        """
        # This is still our own white page, so its answer can be trusted.
        x, y, *size, scale = json.loads(self.evaluate(PLACE_SCRIPT, deadline))
        if tuple(size) != self._settings.viewport_px:
            raise BrowserStartError(
                f"Firefox's viewport is {size}, not the one requested; name another --device"
            )
        return (round(x * scale), round(y * scale)), (int(size[0] * scale), int(size[1] * scale))

    def load(self) -> tuple[LoadEnd, str, bool]:
        """Navigate and wait; returns how the load ended, why, and whether the cap ended it."""
        rule = rule_from_now(self._settings)
        self.follow(rule)
        parameters = {"context": self.context, "url": self._settings.url, "wait": "none"}
        self._bidi.send("browsingContext.navigate", parameters, self._handle_navigate_reply)
        waits, failed = lambda: self.network.waits, lambda: self._navigation_error
        return wait_for_load(self._settings, rule, self._bidi.pump, waits, failed)

    def follow(self, rule: QuietRule) -> None:
        """Report all events to `rule` from now on."""
        self._rule = rule

    def timings(self, deadline: float) -> tuple[PageAnswer, BrowserEvents]:
        """Return the last document's validated timings (`SCRIPT`), and the browser's events.

        Raises the errors of `BiDi.call` and `PageAnswerError`.
        """
        said = self.evaluate(f"JSON.stringify({SCRIPT.strip()})", deadline, world=WORLD)
        answer = check_answer(parse_answer(said))
        origin_ms = answer["timeOrigin"]

        def since_origin(wall_ms: float | None) -> float | None:
            return None if wall_ms is None else wall_ms - origin_ms

        def nearest(event: str, said_ms: float | None) -> float | None:
            times_ms = [at_ms - origin_ms for at_ms in self._events_ms.get(event, ())]
            return min(times_ms, key=lambda at_ms: abs(at_ms - (said_ms or 0.0)), default=None)

        return answer, BrowserEvents(
            load_ms=nearest("browsingContext.load", answer["load"]),
            dom_content_loaded_ms=nearest(
                "browsingContext.domContentLoaded", answer["domContentLoaded"]
            ),
            response_ms=since_origin(self.network.response_ms(self._navigation)),
        )

    def evaluate(self, expression: str, deadline: float, world: str = "") -> str:
        """Return an expression's text result, evaluated in the page or in the sandbox `world`.

        Raises `CommandError` if it threw or returned no text.
        """
        target = {"context": self.context, **({"sandbox": world} if world else {})}
        parameters = {"expression": expression, "target": target, "awaitPromise": True}
        return text_answer(self._bidi.call("script.evaluate", parameters, deadline))

    def _handle_event(self, method: str, parameters: JsonObject) -> None:
        now_s = time.monotonic()
        if method == "log.entryAdded" and parameters["level"] == "error":
            if len(self.console_errors) < ERRORS_MAX:
                self.console_errors.append((parameters.get("text") or "")[:TEXT_CHARS_MAX])
            return
        if self._rule is None or self._is_foreign(method, parameters):
            return
        if self.network.handle_event(method, parameters):
            self._rule.handle_activity(now_s)
        if parameters.get("context") != self.context:
            return
        if "timestamp" in parameters:
            self._events_ms.setdefault(method, [])[EVENTS_MAX:] = [parameters["timestamp"]]
        if method == "browsingContext.load":
            self._rule.handle_load_event(now_s)
            if not self._phases.has_ended("collect"):
                self._phases.mark("load")
        elif method == "browsingContext.navigationCommitted":
            self.documents += 1
            self.shown_url = parameters["url"]
            if self.shown_url.startswith(_UNDECODABLE_PAGE):
                # Firefox's error page has no load event.
                self._navigation_error = UNDECODABLE[1]
            self._navigation = parameters.get("navigation") or ""
            self._events_ms.clear()
            self._rule.handle_new_document(now_s)
        elif method == "browsingContext.userPromptOpened":
            # A dialog blocks the page until it is answered.
            answer = {"context": self.context, "accept": True}
            self._bidi.send("browsingContext.handleUserPrompt", answer)

    def _is_foreign(self, method: str, parameters: JsonObject) -> bool:
        """Return whether an event is of a pop-up window; closes the window if it is new."""
        context, parent = parameters.get("context") or "", parameters.get("parent")
        if method != "browsingContext.contextCreated":
            return context in self._foreign
        opened = parent is None and context != self.context
        if (opened or parent in self._foreign) and len(self._foreign) < FOREIGN_MAX:
            self._foreign.add(context)
        if opened:
            self._bidi.send("browsingContext.close", {"context": context})
        return True

    def _handle_navigate_reply(self, reply: JsonObject) -> None:
        if reply.get("type") == "error":
            self._navigation_error = refusal_of(reply)


def text_answer(reply: JsonObject) -> str:
    """Return a script's text result. Raises `CommandError` if it threw or returned no text."""
    if reply["type"] != "success":
        thrown = reply.get("exceptionDetails", {}).get("text", "no reason given")
        raise CommandError(f"the page threw: {first_line(thrown)}")
    text = reply.get("result", {}).get("value")
    if not isinstance(text, str):
        raise CommandError("the page answered no text")
    return text


def mobile_user_agent(version: str) -> str:
    """Return the user agent of the same Firefox version on Android."""
    major = version.partition(".")[0]
    return f"Mozilla/5.0 (Android 12; Mobile; rv:{major}.0) Gecko/{major}.0 Firefox/{major}.0"
