"""Perform one load of one page in a fresh Chromium.

Clocks: Chromium stamps network events, lifecycle events, frames and traces with CLOCK_MONOTONIC,
and `Performance.getMetrics` gives `NavigationStart` on that same clock, so one subtraction converts
everything to the page's clock (`performance.timeOrigin` is the same instant). No wall time is
involved. `tests/system/browser/test_browser_load.py` checks this against the page's own timings.

Profile and context are new, so nothing is cached. `Network.setCacheDisabled` stays off: it adds
headers and makes Chromium fetch preloaded and repeated objects twice, unlike any first visit.

Console errors of the page and the browser, one line each (pure).

Collect DevTools' events of the newest document, to cross-check its timings (pure).

Times are CLOCK_MONOTONIC seconds, as Chromium stamps these events, except paints in the performance
timeline, which have wall time.
"""

from __future__ import annotations

import time
from dataclasses import replace

from eyelevel.base.errors import BrowserError, BrowserGoneError, BrowserStartError, PageAnswerError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.chromium.capture import capture_of
from eyelevel.browser.chromium.devtools import DevTools, navigation_error
from eyelevel.browser.chromium.first_visit import FirstVisit, observe_with
from eyelevel.browser.chromium.input import DevToolsInput
from eyelevel.browser.chromium.logs import Logs, netlog_arguments
from eyelevel.browser.chromium.network_log import NetworkLog
from eyelevel.browser.chromium.page_setup import read_timings, set_up_page
from eyelevel.browser.chromium.process import Chromium, browser_arguments
from eyelevel.browser.cross_check import BrowserEvents, differences_ms, disagreement
from eyelevel.browser.messages import bytes_of
from eyelevel.browser.observations import LoadEnd, LoadSettings, Navigation, RawLoad, StepLoad
from eyelevel.browser.page_timings import (
    NavigationClock,
    PageAnswer,
    has_no_server,
    navigation_from,
)
from eyelevel.browser.processes import PROFILE, new_profile
from eyelevel.browser.steps import AfterLoad, split_by_steps
from eyelevel.browser.waiting import (
    Phases,
    QuietRule,
    rule_from_now,
    settle,
    until_now,
    wait_for_load,
)

START_TIMEOUT_S = 30.0
"""Time limit for the browser to start and open an empty page; normally half a second."""

COLLECT_TIMEOUT_S = 15.0
"""Time limit for frames and timings after a completed load."""

NO_DOWNLOADS: JsonObject = {"behavior": "deny"}
"""Parameters that deny downloads: a page must not fill the disk."""

COLLECT_AFTER_TIMEOUT_S = 3.0
"""Time limit for frames and timings after a timeout: a hanging page may not answer at all."""


def load_in_chromium(settings: LoadSettings) -> RawLoad:
    """Load `settings.url` in a new Chromium; see `eyelevel.browser.browsers.load_page`."""
    started_s = time.monotonic()
    with new_profile() as folder:
        arguments = browser_arguments(
            settings.stack.http_version,
            settings.quic_origins,
            settings.spki_sha256,
            settings.viewport_px,
            proxy=settings.proxy,
            early_data=settings.stack.early_data,
            own_hosts=settings.own_hosts,
            effective_connection_type=settings.browser.forced_connection_type,
            is_visited_before=settings.browser.is_again,
            as_recorded=settings.as_recorded,
            finds_quic=settings.stack.is_discovered,
            own_flags=settings.browser.chromium_flags,
        )
        if settings.browser.netlog:
            arguments += netlog_arguments(folder / PROFILE)
        build = settings.browser.chromium
        with Chromium(arguments, folder, settings.command_prefix, build=build) as browser:
            raw = _Load(settings, browser, started_s).run()
            settings.when_over(raw)
            ending_s = time.monotonic()
    return replace(raw, wall_ms=until_now(raw.wall_ms, started_s, ending_s))


class _Load:
    """Drives one load; each instance runs once."""

    def __init__(self, settings: LoadSettings, browser: Chromium, started_s: float) -> None:
        self._settings = settings
        self._browser = browser
        self._devtools = DevTools(browser.to_browser_fd, browser.from_browser_fd)
        self._devtools.on_event = self._handle_event
        self._capture = capture_of(settings)
        self._network = NetworkLog()
        self._console = ConsoleErrors()
        self._page = ""
        self._first_visit: tuple[LoadEnd, str] = ("complete", "")
        scripts: list[tuple[str, JsonObject]] = []
        if settings.same_page is not None:
            # Out-of-process frames are targets of their own. Workers refuse it and stay unchanged.
            source = {"source": settings.same_page.script()}
            scripts = [("Page.enable", {}), ("Page.addScriptToEvaluateOnNewDocument", source)]
        self._observe = observe_with(scripts)
        self._main_frame = ""
        self._document = DocumentEvents("")
        self._clock = NavigationClock(started_s)
        self._shown_url = ""
        self._ended_on = ""
        self._timings_refused = ""
        self._timing_differences_ms: dict[str, float] = {}
        self._navigation_error = ""
        self._rule: QuietRule | None = None
        self._phases = Phases(started_s)
        self._version = ""
        self._settled = False
        self._start_cpu_s = 0.0
        self._connection_type: str | None = None
        self._final_picture_matches: bool | None = None
        self._screenshot = b""
        self._steps: list[StepLoad] = []
        self._logs = Logs(settings)

    def run(self) -> RawLoad:
        """Start the browser, load, and collect.

        A crash after navigation is an outcome, not an error.
        """
        try:
            self._open_empty_page(time.monotonic() + START_TIMEOUT_S)
        except BrowserError as error:
            raise BrowserStartError(f"{error}; {self._browser_state()}") from error
        ended: LoadEnd = "browser-crashed"
        detail, capped, navigation = "", False, Navigation()
        if self._first_visit[0] != "complete":
            ended, reason = self._first_visit
            detail = f"the first visit, before the measured one: {reason}"
            return self._raw_load(ended, detail, capped, navigation)
        try:
            ended, detail, capped = self._load()
            self._phases.mark("quiet")
            if ended == "complete" and not capped:
                # A page that is still changing differs from each of its frames.
                deadline = time.monotonic() + COLLECT_TIMEOUT_S
                self._final_picture_matches = self._capture.final_picture_matches(deadline)
            if ended in ("complete", "timeout"):
                navigation = self._collect(ended).of(ended)
            if ended == "complete" and self._settings.browser.steps:
                self._phases.mark("collect")
                self._do_steps()
        except BrowserGoneError as error:
            ended, detail = "browser-crashed", f"{error}; {self._browser_state()}"
        except BrowserError as error:
            # A timeout is a result in itself; what its page did not answer stays unknown.
            if ended != "timeout":
                ended, detail = "browser-crashed", f"the page loaded but {error}"
        self._phases.mark("after_load" if self._steps else "collect")
        logs = self._logs.collect(self._devtools, self._browser)
        return replace(self._raw_load(ended, detail, capped, navigation), logs=logs)

    def _open_empty_page(self, deadline: float) -> None:
        call = self._devtools.call
        self._version = call("Browser.getVersion", None, "", deadline)["product"]
        self._phases.mark("start")
        context = call("Target.createBrowserContext", None, "", deadline)["browserContextId"]
        if self._settings.browser.is_again:
            self._visit_first(context)
            deadline = time.monotonic() + START_TIMEOUT_S
        target = {"url": "about:blank", "browserContextId": context}
        # A page's target and its main frame share an id.
        self._main_frame = call("Target.createTarget", target, "", deadline)["targetId"]
        self._document = DocumentEvents(self._main_frame)
        attach = {"targetId": self._main_frame, "flatten": True}
        self._page = call("Target.attachToTarget", attach, "", deadline)["sessionId"]
        self._observe(self._devtools, self._page)
        self._set_up(self._page)
        downloads = {**NO_DOWNLOADS, "browserContextId": context}
        call("Browser.setDownloadBehavior", downloads, "", deadline)
        call("Target.setDiscoverTargets", {"discover": True}, "", deadline)
        self._capture.start(self._devtools, self._page, deadline)
        self._phases.mark("open")
        session = self._browser.session
        assert session is not None
        self._settled = settle(session.cpu_s, self._devtools.pump, lambda: self._capture.started)
        self._logs.start(self._devtools, deadline)
        self._start_cpu_s = session.cpu_s()
        self._phases.mark("settle")

    def _visit_first(self, context: str) -> None:
        visit = FirstVisit(self._devtools, self._settings, context, self._observe)
        self._first_visit = visit.run(self._set_up)
        if self._first_visit[0] == "complete":
            self._settings.between_visits()

    def _set_up(self, session_id: str) -> None:
        set_up_page(self._devtools, session_id, self._settings, time.monotonic() + START_TIMEOUT_S)

    def _load(self) -> tuple[LoadEnd, str, bool]:
        """Navigate and wait; returns how the load ended, why, and whether the cap ended it."""
        self._clock = NavigationClock(time.monotonic())
        self._rule = rule = rule_from_now(self._settings)
        parameters = {"url": self._settings.url}
        self._devtools.send("Page.navigate", parameters, self._page, self._handle_navigate_reply)
        return wait_for_load(
            self._settings,
            rule,
            self._devtools.pump,
            lambda: self._network.waits,
            lambda: self._navigation_error or self._network.page_error,
        )

    def _collect(self, ended: LoadEnd) -> Navigation:
        wait_s = COLLECT_TIMEOUT_S if ended == "complete" else COLLECT_AFTER_TIMEOUT_S
        deadline = time.monotonic() + wait_s
        if ended != "complete" or not self._settings.browser.steps:
            self._capture.stop(deadline)
        if self._settings.screenshot:
            parameters = {"format": "png"}
            png = self._devtools.call("Page.captureScreenshot", parameters, self._page, deadline)
            self._screenshot = bytes_of(png["data"])
        self._ask_navigation_start()
        scripts = self._settings.browser.javascript
        clock = self._clock
        if has_no_server(self._shown_url):
            self._ended_on = self._shown_url
            return Navigation(documents=clock.documents)
        try:
            answer = read_timings(self._devtools, self._page, self._main_frame, scripts, deadline)
            events = self._document.since(clock.last_start_s, answer)
            self._timing_differences_ms = differences_ms(answer, events)
            self._timings_refused = disagreement(answer, events)
            if not self._timings_refused:
                self._connection_type = answer["effectiveConnectionType"]
                return navigation_from(answer, clock, self._document.lifecycle_s)
        except PageAnswerError as error:
            self._timings_refused = str(error)
        return Navigation(documents=clock.documents)

    def _do_steps(self) -> None:
        """Perform the user's steps after the load."""
        page_input = DevToolsInput(
            self._devtools,
            self._page,
            self._main_frame,
            self._settings,
            self._capture,
            self._clock,
            self._document.lifecycle_s,
            self._follow,
        )
        start_s, pump = self._clock.first_start_s, self._devtools.pump
        after = AfterLoad(page_input, self._settings, pump, lambda: self._network.waits, start_s)
        self._steps = after.done
        after.run()
        self._capture.stop(time.monotonic() + COLLECT_TIMEOUT_S)

    def _follow(self, rule: QuietRule) -> None:
        self._rule = rule

    def _raw_load(
        self, ended: LoadEnd, detail: str, capped: bool, navigation: Navigation
    ) -> RawLoad:
        start_s = self._clock.first_start_s
        session = self._browser.session
        raw = RawLoad(
            ended=ended,
            detail=detail,
            navigation=navigation,
            objects=self._network.objects(start_s),
            frames=self._capture.frames(start_s),
            console_errors=tuple(self._console.texts),
            initiators=dict(self._network.initiators),
            browser_version=self._version,
            capped=capped,
            settled=self._settled,
            navigation_start_ns=round(start_s * 1e9),
            frames_lost=self._capture.lost,
            effective_connection_type=self._connection_type,
            console_dropped=self._devtools.dropped,
            requests_lost=self._network.lost,
            has_early_hints=self._network.has_early_hints,
            ended_on=self._ended_on,
            timings_refused=self._timings_refused,
            timing_differences_ms=self._timing_differences_ms,
            final_picture_matches=self._final_picture_matches,
            screenshot=self._screenshot,
            cpu_s=session.cpu_s() if session is not None else 0.0,
            start_cpu_s=self._start_cpu_s,
            wall_ms=self._phases.lengths_ms(),
        )
        return split_by_steps(raw, self._steps)

    def _handle_event(self, method: str, parameters: JsonObject, session_id: str) -> None:
        now_s = time.monotonic()
        if method == "Target.attachedToTarget" and session_id:
            self._observe(self._devtools, parameters["sessionId"])
        if method == "Target.targetCreated" and self._rule is not None:
            self._close_window(parameters["targetInfo"])
        active = self._network.handle_event(method, parameters)
        self._console.handle_event(method, parameters)
        self._logs.handle_event(method, parameters)
        if session_id == self._page:
            active |= self._capture.handle_event(method, parameters)
            self._handle_page_event(method, parameters, now_s)
        if active and self._rule is not None:
            self._rule.handle_activity(now_s)

    def _close_window(self, target: JsonObject) -> None:
        """Close a window that the page opened, which would load pages of its own."""
        if target["type"] == "page" and target["targetId"] != self._main_frame:
            self._devtools.send("Target.closeTarget", {"targetId": target["targetId"]})

    def _handle_page_event(self, method: str, parameters: JsonObject, now_s: float) -> None:
        if method == "Inspector.targetCrashed":
            raise BrowserGoneError("the page's renderer process crashed")
        if method == "Page.javascriptDialogOpening":
            # A dialog blocks the page until it is answered.
            self._devtools.send("Page.handleJavaScriptDialog", {"accept": True}, self._page)
        if self._rule is None:
            return
        self._document.handle_event(method, parameters)
        if method == "Page.loadEventFired":
            self._rule.handle_load_event(now_s)
            if not self._phases.has_ended("collect"):
                self._phases.mark("load")
        elif method == "Page.frameNavigated" and "parentId" not in parameters["frame"]:
            self._clock.handle_new_document()
            self._shown_url = parameters["frame"]["url"]
            self._rule.handle_new_document(now_s)
            self._ask_navigation_start()
        elif method == "Network.requestWillBeSent":
            self._clock.handle_request(parameters)

    def _ask_navigation_start(self) -> None:
        self._devtools.send("Performance.getMetrics", {}, self._page, self._clock.handle_metrics)

    def _handle_navigate_reply(self, reply: JsonObject) -> None:
        self._navigation_error = navigation_error(reply)

    def _browser_state(self) -> str:
        session = self._browser.session
        state = session.exit_text() if session is not None else "not started"
        return f"browser process: {state}; its output: {self._browser.log_tail() or 'nothing'}"


ERRORS_MAX = 100
"""Maximum number of console errors kept, so that an endless loop cannot fill the record."""

LENGTH_MAX = 1000
"""Maximum characters kept of each error."""


class ConsoleErrors:
    """Collects console errors; `texts` has them in order."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def handle_event(self, method: str, parameters: JsonObject) -> None:
        """Store the event's text if it reports an error."""
        reader = _READERS.get(method)
        text = reader(parameters)[:LENGTH_MAX] if reader is not None else ""
        if text and len(self.texts) < ERRORS_MAX:
            self.texts.append(text)


def _log_text(parameters: JsonObject) -> str:
    entry = parameters["entry"]
    return f"{entry['text']} {entry.get('url', '')}".strip() if entry["level"] == "error" else ""


def _console_text(parameters: JsonObject) -> str:
    if parameters["type"] not in ("error", "assert"):
        return ""
    arguments = parameters["args"]
    return " ".join(str(item.get("value", item.get("description", ""))) for item in arguments)


def _exception_text(parameters: JsonObject) -> str:
    details = parameters["exceptionDetails"]
    return str(details.get("exception", {}).get("description") or details["text"])


_READERS = {
    "Log.entryAdded": _log_text,
    "Runtime.consoleAPICalled": _console_text,
    "Runtime.exceptionThrown": _exception_text,
}


EVENTS_MAX = 1000
"""Maximum number of events kept per kind and document; browsers buffer 150 paints."""

REPEATED = ("DOMContentLoaded", "load")
"""Events that fire again if the page rewrites its document (`document.open`); the page's
timings have the first one.
"""


class DocumentEvents:
    """Collects events of the page's session; `lifecycle_s` has those of the newest document."""

    def __init__(self, main_frame: str) -> None:
        self.lifecycle_s: dict[str, float] = {}
        self._all_s: dict[str, list[float]] = {}
        self._main_frame = main_frame
        self._loader = ""
        self._response: tuple[str, float] | None = None
        self._largest_wall_s: list[float] = []

    def handle_event(self, method: str, parameters: JsonObject) -> None:
        """Handle one event of the page's session."""
        if method == "Page.lifecycleEvent" and parameters["frameId"] == self._main_frame:
            # A rewritten document sends `init` again, but keeps its loader id and its timings.
            if parameters["name"] == "init" and parameters["loaderId"] != self._loader:
                self._loader = parameters["loaderId"]
                self.lifecycle_s.clear()
                self._all_s.clear()
                self._largest_wall_s.clear()
            self.lifecycle_s.setdefault(parameters["name"], parameters["timestamp"])
            if parameters["name"] in REPEATED:
                of_name = self._all_s.setdefault(parameters["name"], [])
                of_name[EVENTS_MAX:] = [parameters["timestamp"]]
        elif method == "Network.responseReceived":
            self._take_response(parameters)
        elif method == "PerformanceTimeline.timelineEventAdded":
            event = parameters["event"]
            largest = event.get("lcpDetails")
            room = len(self._largest_wall_s) < EVENTS_MAX
            if event["frameId"] == self._main_frame and largest is not None and room:
                self._largest_wall_s.append(event["time"])

    def since(self, start_s: float, answer: PageAnswer) -> BrowserEvents:
        """Return the newest document's event times relative to its navigation start, `start_s`.

        Some events occur more than once (the load event of a rewritten document, candidates for the
        largest paint); of those the one nearest to the page's own timing is returned.
        """

        def ms(at_s: float | None) -> float | None:
            return None if at_s is None else (at_s - start_s) * 1e3

        def nearest(times_ms: list[float], reported_ms: float | None) -> float | None:
            return min(times_ms, key=lambda at_ms: abs(at_ms - (reported_ms or 0.0)), default=None)

        def repeated_ms(name: str) -> list[float]:
            return [(at_s - start_s) * 1e3 for at_s in self._all_s.get(name, ())]

        largest_ms = [at_s * 1e3 - answer["timeOrigin"] for at_s in self._largest_wall_s]
        loader, response_s = self._response or ("", None)
        return BrowserEvents(
            load_ms=nearest(repeated_ms("load"), answer["load"]),
            dom_content_loaded_ms=nearest(
                repeated_ms("DOMContentLoaded"), answer["domContentLoaded"]
            ),
            response_ms=ms(response_s) if loader == self._loader else None,
            first_contentful_paint_ms=ms(self.lifecycle_s.get("firstContentfulPaint")),
            largest_contentful_paint_ms=nearest(largest_ms, answer["lcp"]),
        )

    def _take_response(self, event: JsonObject) -> None:
        # A document's request id is its loader id. A cached response has the times of another load.
        response, loader = event["response"], event["requestId"]
        cached = ("fromServiceWorker", "fromDiskCache", "fromPrefetchCache")
        if loader != event.get("loaderId") or event.get("frameId") != self._main_frame:
            return
        timing = response.get("timing") or {}
        since_ms = timing.get("receiveHeadersStart", -1.0)
        known = since_ms >= 0 and not any(response.get(name) for name in cached)
        at_s = timing["requestTime"] + since_ms / 1e3 if known else None
        self._response = (loader, at_s) if at_s is not None else None
