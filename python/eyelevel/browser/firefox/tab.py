"""One tab of a Firefox: its viewport, events and timings, and the end of its load.

Collect the objects of a load from WebDriver BiDi's network events (pure).

Firefox reports times in milliseconds of wall time, which it computes from the monotonic clock and
the wall time of its start; `objects` converts them to milliseconds from navigation start. It
reports neither the connection nor the priority of an object.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

from eyelevel.base.errors import BrowserStartError, CommandError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.cross_check import BrowserEvents
from eyelevel.browser.firefox.bidi import BiDi
from eyelevel.browser.messages import first_line, parse_answer, refusal_of
from eyelevel.browser.observations import (
    LOCAL_SCHEMES,
    REQUEST_CHARS_MAX,
    REQUESTS_MAX,
    UNDECODABLE,
    Fields,
    LoadEnd,
    LoadSettings,
    Message,
    ObjectLoad,
)
from eyelevel.browser.page_timings import SCRIPT, WORLD, PageAnswer, check_answer
from eyelevel.browser.waiting import Phases, QuietRule, rule_from_now, wait_for_load

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
        reply = self.evaluate(f"JSON.stringify({SCRIPT.strip()})", deadline, world=WORLD)
        answer = check_answer(parse_answer(reply))
        origin_ms = answer["timeOrigin"]

        def since_origin(wall_ms: float | None) -> float | None:
            return None if wall_ms is None else wall_ms - origin_ms

        def nearest(event: str, reported_ms: float | None) -> float | None:
            times_ms = [at_ms - origin_ms for at_ms in self._events_ms.get(event, ())]
            return min(times_ms, key=lambda at_ms: abs(at_ms - (reported_ms or 0.0)), default=None)

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


PROTOCOLS = {"HTTP/1.1": "http/1.1", "http/1.1": "http/1.1", "HTTP/2": "h2", "HTTP/3": "h3"}
"""Protocol names of records (and Chromium), by Firefox's."""

TYPES = {
    "document": "Document",
    "style": "Stylesheet",
    "script": "Script",
    "image": "Image",
    "font": "Font",
    "iframe": "Document",
}
"""DevTools' resource types, by destinations of the Fetch standard."""


@dataclass(slots=True)
class _Request:
    number: int
    request: JsonObject
    navigation: str | None = None
    response: JsonObject | None = None
    failed: str | None = None
    done: bool = False


class BiDiNetworkLog:
    """Collects network events; has the open requests and, at the end, all objects."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, int], _Request] = {}
        self._open: set[tuple[str, int]] = set()
        self._chars = 0
        self.lost = 0
        """Number of requests dropped because `REQUESTS_MAX` or `REQUEST_CHARS_MAX` was reached."""

    @property
    def waits(self) -> bool:
        """Whether a request is open that the end of the load has to wait for."""
        return bool(self._open)

    def handle_event(self, method: str, parameters: JsonObject) -> bool:
        """Handle one event; returns whether a request began or ended."""
        if not method.startswith("network."):
            return False
        request = parameters["request"]
        key = request["request"], parameters["redirectCount"]
        if key not in self._requests and not self._has_room(request["url"]):
            return True
        if method == "network.beforeRequestSent":
            self._open.add(key)
            navigation = parameters.get("navigation")
            self._requests[key] = _Request(len(self._requests), request, navigation)
            return not request["url"].startswith(LOCAL_SCHEMES)
        entry = self._requests.setdefault(key, _Request(len(self._requests), request))
        entry.request = request
        if method == "network.fetchError":
            entry.failed, entry.done = parameters["errorText"], True
        elif method in ("network.responseStarted", "network.responseCompleted"):
            entry.response = parameters["response"]
            entry.done = entry.done or method == "network.responseCompleted"
        (self._open.discard if entry.done else self._open.add)(key)
        return entry.done

    def _has_room(self, url: str) -> bool:
        """Return whether there is room for one more request; if not, count it as lost."""
        self._chars += len(url)
        if len(self._requests) < REQUESTS_MAX and self._chars <= REQUEST_CHARS_MAX:
            return True
        self.lost += 1
        return False

    def first_request_ms(self) -> float | None:
        """Return the start of the first request, milliseconds of wall time.

        Returns None if there was none.
        """
        times = [entry.request["timings"]["requestTime"] for entry in self._requests.values()]
        return min(times, default=None)

    def response_ms(self, navigation: str) -> float | None:
        """Return when a navigation's response began, milliseconds of wall time, after redirects.

        None if it is unknown, or if the response was not from the network.
        """
        for entry in reversed(self._requests.values()):
            if entry.navigation == navigation and entry.response is not None:
                from_network = not entry.response.get("fromCache")
                return (entry.request["timings"]["responseStart"] or None) if from_network else None
        return None

    def objects(self, start_ms: float) -> tuple[ObjectLoad, ...]:
        """Return all objects in order of their requests.

        `start_ms` is navigation start in wall time.
        """
        ordered = sorted(
            self._requests.values(),
            key=lambda entry: (entry.request["timings"]["requestTime"], entry.number),
        )
        return tuple(_object(entry, start_ms) for entry in ordered)


def _object(entry: _Request, start_ms: float) -> ObjectLoad:
    request, response = entry.request, entry.response or {}
    timings = request["timings"]

    def since_start(name: str) -> float | None:
        wall_ms = timings.get(name) or 0.0
        return round(wall_ms - start_ms, 3) if wall_ms else None

    def span(first: str, last: str) -> tuple[float, float] | None:
        began, ended = since_start(first), since_start(last)
        # Both are equal for a phase that the request did not have.
        return None if began is None or ended is None or began == ended else (began, ended)

    url, protocol = request["url"], response.get("protocol")
    local = url.startswith(LOCAL_SCHEMES)
    kind = TYPES.get(request.get("destination") or "", "Other")
    ended = since_start("responseEnd")
    return ObjectLoad(
        url=url,
        method=request["method"],
        resource_type=kind,
        protocol=None if local else PROTOCOLS.get(protocol or "", protocol),
        status=response.get("status"),
        started_ms=since_start("requestTime") or 0.0,
        lookup_ms=span("dnsStart", "dnsEnd"),
        connect_ms=span("connectStart", "connectEnd"),
        tls_ms=span("tlsStart", "tlsEnd"),
        sending_ms=since_start("requestStart"),
        sent_ms=since_start("requestStart"),
        response_ms=since_start("responseStart"),
        finished_ms=ended if entry.done else None,
        encoded_bytes=int(response.get("bytesReceived") or 0),
        source="data" if local else "cache" if response.get("fromCache") else "network",
        # Firefox does not report it; style sheets block rendering.
        render_blocking="Blocking" if kind == "Stylesheet" else None,
        in_main_frame=None,
        initiator_type=None,
        mime_type=(response.get("mimeType") or "").partition(";")[0] or None,
        priority=None,
        connection=None,
        address=None,
        failed=entry.failed,
        message=_message(request, response),
    )


def _message(request: JsonObject, response: JsonObject) -> Message:
    head_bytes, content = response.get("headersSize"), response.get("content") or {}
    size = content.get("size")
    return Message(
        request_fields=_fields(request),
        status_text=response.get("statusText") or "",
        response_fields=_fields(response),
        response_head_bytes=int(head_bytes) if head_bytes else None,
        content_bytes=None if size is None else int(size),
    )


def _fields(message: JsonObject) -> Fields:
    """Return the header fields; fields whose bytes are not UTF-8 are left out."""
    return tuple(
        (each["name"], each["value"]["value"])
        for each in message.get("headers", ())
        if each["value"]["type"] == "string"
    )
