"""One load of one page in a fresh browser.

Clocks. Chromium stamps network events, frames and trace events with CLOCK_MONOTONIC, and
`Performance.getMetrics` gives `NavigationStart` on that same clock, so one subtraction puts
everything on the page's clock (`performance.timeOrigin` is the same instant). No wall time is
involved. Checked in `tests/system/test_browser.py`: the lifecycle event `firstContentfulPaint`, on
the monotonic clock, less `NavigationStart` equals the page's own paint entry.

Nothing is cached because profile and context are new. `Network.setCacheDisabled` stays off: it adds
request headers and makes Chromium fetch preloaded and repeated objects twice, unlike any first visit.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from typing import Any

from eyelevel.browser.capture import CAPTURES
from eyelevel.browser.chromium import Chromium, browser_arguments, new_profile
from eyelevel.browser.devtools import DevTools
from eyelevel.browser.errors import BrowserError, BrowserGoneError, BrowserStartError
from eyelevel.browser.network_log import NetworkLog
from eyelevel.browser.observations import Ended, LoadSettings, Navigation, RawLoad
from eyelevel.browser.page_timings import SCRIPT, navigation_from
from eyelevel.browser.quiet import QuietRule

START_TIMEOUT_S = 30.0
"""For the browser to answer and open an empty page; it takes half a second."""

COLLECT_TIMEOUT_S = 15.0
"""For the page's timings after the load; a page that hangs has none."""

SETTLE_S = 0.0
"""Pause between the empty page's first frame and the navigation."""

CONSOLE_ERRORS_MAX = 100
"""Console errors kept; a page in an endless loop must not fill the record."""


def load_page(settings: LoadSettings) -> RawLoad:
    """Load `settings.url` in a new browser and give back everything that was observed.

    A failing load is a result (`RawLoad.ended`), not an exception.
    Raises `BrowserStartError` where no load could even be attempted.
    """
    started_s = time.monotonic()
    profile = new_profile()
    arguments = browser_arguments(
        settings.http_version,
        settings.quic_origins,
        settings.spki_sha256,
        settings.viewport_px,
        profile,
    )
    with Chromium(arguments, profile, settings.command_prefix) as browser:
        driver = _Load(settings, browser, started_s)
        raw = driver.run()
        ending_s = time.monotonic()
    ended_s = time.monotonic()
    wall_ms = {**raw.wall_ms, "end": _ms(ended_s - ending_s), "total": _ms(ended_s - started_s)}
    return replace(raw, wall_ms=wall_ms)


class _Load:
    """The driver of one load; one instance, one `run`."""

    def __init__(self, settings: LoadSettings, browser: Chromium, started_s: float) -> None:
        self._settings = settings
        self._browser = browser
        self._devtools = DevTools(browser.to_browser_fd, browser.from_browser_fd)
        self._devtools.on_event = self._handle_event
        self._capture = CAPTURES[settings.capture]()
        self._network = NetworkLog()
        self._page = ""
        self._console_errors: list[str] = []
        self._navigation_starts_s: list[float] = []
        self._failure: tuple[Ended, str] | None = None
        self._rule: QuietRule | None = None
        self._marks_s = {"begin": started_s}
        self._version = ""

    def run(self) -> RawLoad:
        """Start, load, collect. A browser that dies is an outcome from the navigation on."""
        try:
            self._open_empty_page(time.monotonic() + START_TIMEOUT_S)
        except BrowserError as error:
            raise BrowserStartError(f"{error}; {self._browser_state()}") from error
        ended: Ended
        navigation = Navigation()
        capped = False
        try:
            ended, detail, capped = self._load()
            self._marks_s["quiet"] = time.monotonic()
            if ended != "navigation-failed":
                navigation = self._collect()
        except BrowserGoneError as error:
            ended, detail = "browser-crashed", f"{error}; {self._browser_state()}"
        except BrowserError as error:
            ended, detail = "browser-crashed", f"after the load {error}"
        self._marks_s["collect"] = time.monotonic()
        return self._raw_load(ended, detail, capped, navigation)

    def _open_empty_page(self, deadline: float) -> None:
        call = self._devtools.call
        self._version = call("Browser.getVersion", None, "", deadline)["product"]
        self._marks_s["start"] = time.monotonic()
        context = call("Target.createBrowserContext", None, "", deadline)["browserContextId"]
        target = {"url": "about:blank", "browserContextId": context}
        target_id = call("Target.createTarget", target, "", deadline)["targetId"]
        attach = {"targetId": target_id, "flatten": True}
        self._page = call("Target.attachToTarget", attach, "", deadline)["sessionId"]
        self._observe(self._page)
        width, height = self._settings.viewport_px
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        for method, parameters in (
            ("Page.enable", {}),
            ("Page.setLifecycleEventsEnabled", {"enabled": True}),
            ("Performance.enable", {"timeDomain": "timeTicks"}),
            ("Emulation.setDeviceMetricsOverride", screen),
        ):
            call(method, parameters, self._page, deadline)
        self._capture.start(self._devtools, self._page, deadline)
        settled_s = time.monotonic() + SETTLE_S
        while self._devtools.pump(settled_s):
            pass
        self._marks_s["settle"] = time.monotonic()

    def _observe(self, session_id: str) -> None:
        """Ask a page, frame or worker for its events, its own children's included."""
        children = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
        for method, parameters in (
            # Bodies are not kept: they would cost the browser memory for nothing.
            ("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}),
            ("Log.enable", {}),
            ("Runtime.enable", {}),
            ("Inspector.enable", {}),
            ("Target.setAutoAttach", children),
            ("Runtime.runIfWaitingForDebugger", {}),
        ):
            self._devtools.send(method, parameters, session_id)

    def _load(self) -> tuple[Ended, str, bool]:
        """Navigate and wait for the end; how it ended, why, and whether the cap ended it."""
        settings = self._settings
        self._marks_s["navigate"] = now_s = time.monotonic()
        self._rule = rule = QuietRule(
            now_s, settings.timeout_s, settings.quiet_s, settings.cap_s
        )
        self._devtools.send(
            "Page.navigate", {"url": settings.url}, self._page, self._handle_navigate_reply
        )
        while True:
            self._devtools.pump(rule.next_deadline(self._network.waits))
            if self._failure is not None:
                return *self._failure, False
            verdict = rule.verdict(time.monotonic(), self._network.waits)
            if verdict == "timeout":
                return "timeout", f"no load event within {settings.timeout_s:g} s", False
            if verdict != "loading":
                return "complete", "", verdict == "capped"

    def _collect(self) -> Navigation:
        deadline = time.monotonic() + COLLECT_TIMEOUT_S
        self._capture.stop(deadline)
        with contextlib.suppress(BrowserGoneError):
            self._ask_navigation_start()
        evaluate = {"expression": SCRIPT, "awaitPromise": True, "returnByValue": True}
        answer = self._devtools.call("Runtime.evaluate", evaluate, self._page, deadline)
        starts_s = self._navigation_starts_s
        offset_ms = (starts_s[-1] - starts_s[0]) * 1e3
        return navigation_from(answer["result"]["value"], offset_ms, len(set(starts_s)))

    def _raw_load(
        self, ended: Ended, detail: str, capped: bool, navigation: Navigation
    ) -> RawLoad:
        start_s = self._navigation_starts_s[0] if self._navigation_starts_s else None
        session = self._browser.session
        return RawLoad(
            ended=ended,
            detail=detail,
            navigation=navigation,
            objects=self._network.objects(start_s or self._marks_s["navigate"]),
            frames=self._capture.frames(start_s or self._marks_s["navigate"]),
            console_errors=tuple(self._console_errors),
            browser_version=self._version,
            capped=capped,
            frames_dropped=self._capture.dropped,
            cpu_s=session.cpu_s() if session is not None else 0.0,
            wall_ms={},
        )

    def _handle_event(self, method: str, parameters: dict[str, Any], session_id: str) -> None:
        now_s = time.monotonic()
        if method == "Target.attachedToTarget" and session_id:
            self._observe(parameters["sessionId"])
        active = self._network.handle_event(method, parameters)
        if session_id == self._page:
            active |= self._capture.handle_event(method, parameters)
            self._handle_page_event(method, parameters, now_s)
        if active and self._rule is not None:
            self._rule.handle_activity(now_s)
        if method in _CONSOLE_TEXTS:
            text = _CONSOLE_TEXTS[method](parameters)
            if text and len(self._console_errors) < CONSOLE_ERRORS_MAX:
                self._console_errors.append(text)

    def _handle_page_event(self, method: str, parameters: dict[str, Any], now_s: float) -> None:
        if method == "Inspector.targetCrashed":
            self._failure = "browser-crashed", "the page's renderer process crashed"
        if self._rule is None:
            return
        if method == "Page.loadEventFired":
            self._rule.handle_load_event(now_s)
            self._marks_s["load"] = now_s
        elif method == "Page.frameNavigated" and "parentId" not in parameters["frame"]:
            self._rule.handle_new_document(now_s)
            self._ask_navigation_start()

    def _ask_navigation_start(self) -> None:
        self._devtools.send(
            "Performance.getMetrics", {}, self._page, self._handle_navigation_start
        )

    def _handle_navigation_start(self, reply: dict[str, Any]) -> None:
        for metric in reply.get("result", {}).get("metrics", ()):
            if metric["name"] == "NavigationStart" and metric["value"] > 0:
                self._navigation_starts_s.append(metric["value"])

    def _handle_navigate_reply(self, reply: dict[str, Any]) -> None:
        error = reply.get("error", {}).get("message") or reply.get("result", {}).get("errorText")
        if error:
            self._failure = "navigation-failed", f"navigating to {self._settings.url}: {error}"

    def _browser_state(self) -> str:
        session = self._browser.session
        state = session.exit_text() if session is not None else "not started"
        return f"browser process: {state}; it said: {self._browser.log_tail() or 'nothing'}"


def _log_text(parameters: dict[str, Any]) -> str:
    entry = parameters["entry"]
    return f"{entry['text']} {entry.get('url', '')}".strip() if entry["level"] == "error" else ""


def _console_text(parameters: dict[str, Any]) -> str:
    if parameters["type"] not in ("error", "assert"):
        return ""
    return " ".join(str(a.get("value", a.get("description", ""))) for a in parameters["args"])


def _exception_text(parameters: dict[str, Any]) -> str:
    details = parameters["exceptionDetails"]
    return str(details.get("exception", {}).get("description") or details["text"])


_CONSOLE_TEXTS = {
    "Log.entryAdded": _log_text,
    "Runtime.consoleAPICalled": _console_text,
    "Runtime.exceptionThrown": _exception_text,
}


def _ms(seconds: float) -> float:
    return round(seconds * 1e3, 3)
