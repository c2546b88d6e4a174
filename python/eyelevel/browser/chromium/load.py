"""Perform one load of one page in a fresh Chromium.

Clocks: Chromium stamps network events, lifecycle events, frames and traces with CLOCK_MONOTONIC,
and `Performance.getMetrics` gives `NavigationStart` on that same clock, so one subtraction converts
everything to the page's clock (`performance.timeOrigin` is the same instant). No wall time is
involved. `tests/system/browser/test_browser_load.py` checks this against the page's own timings.

Profile and context are new, so nothing is cached. `Network.setCacheDisabled` stays off: it adds
headers and makes Chromium fetch preloaded and repeated objects twice, unlike any first visit.
"""

from __future__ import annotations

import time
from dataclasses import replace

from eyelevel.base.errors import BrowserError, BrowserGoneError, BrowserStartError, PageAnswerError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.chromium.capture import capture_of
from eyelevel.browser.chromium.console import ConsoleErrors
from eyelevel.browser.chromium.devtools import DevTools, navigation_error
from eyelevel.browser.chromium.document_events import DocumentEvents
from eyelevel.browser.chromium.first_visit import FirstVisit, observe_with
from eyelevel.browser.chromium.input import DevToolsInput
from eyelevel.browser.chromium.logs import Logs, netlog_arguments
from eyelevel.browser.chromium.network_log import NetworkLog
from eyelevel.browser.chromium.page_setup import set_up_page
from eyelevel.browser.chromium.process import Chromium, browser_arguments
from eyelevel.browser.chromium.timings import read_timings
from eyelevel.browser.cross_check import differences_ms, disagreement
from eyelevel.browser.messages import bytes_of
from eyelevel.browser.observations import LoadEnd, LoadSettings, Navigation, RawLoad, StepLoad
from eyelevel.browser.page_timings import NavigationClock, is_of_no_server, navigation_from
from eyelevel.browser.phases import Phases, until_now
from eyelevel.browser.profiles import new_profile
from eyelevel.browser.program import PROFILE
from eyelevel.browser.settle import settle
from eyelevel.browser.steps import AfterLoad, split_by_steps
from eyelevel.browser.waiting import QuietRule, rule_from_now, wait_for_load

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
            settings.proxy,
            settings.stack.early_data,
            settings.own_hosts,
            settings.browser.forced_connection_type,
            settings.browser.is_again,
            settings.as_recorded,
        )
        if settings.browser.netlog:
            arguments += netlog_arguments(folder / PROFILE)
        with Chromium(arguments, folder, settings.command_prefix) as browser:
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
        if is_of_no_server(self._shown_url):
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
            self._settings.viewport_px,
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
