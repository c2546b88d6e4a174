"""Perform one load of one page in a fresh Firefox, by WebDriver BiDi.

Clocks: Firefox's timestamps are wall time at its start plus monotonic time since, and ffmpeg stamps
the recording with wall time, too. Both are converted to CLOCK_MONOTONIC by the difference of the
two clocks, taken before and after the load; a load during which the wall clock was set is no
measurement.

The screen is recorded, so paints are not observable during the load: the quiet second counts
requests only. If the recording still changes in its last half second, the load counts as capped,
like one that was still busy.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from eyelevel.base.errors import (
    BrowserError,
    BrowserGoneError,
    BrowserStartError,
    CommandError,
    PageAnswerError,
)
from eyelevel.browser.cross_check import differences_ms, disagreement
from eyelevel.browser.firefox.bidi import BiDi
from eyelevel.browser.firefox.input import BiDiInput
from eyelevel.browser.firefox.process import Firefox, window_px
from eyelevel.browser.firefox.screen import Screen
from eyelevel.browser.firefox.tab import FirefoxTab, text_answer
from eyelevel.browser.observations import (
    Frame,
    LoadEnd,
    LoadSettings,
    Navigation,
    RawLoad,
    StepLoad,
)
from eyelevel.browser.page_timings import has_no_server, navigation_from
from eyelevel.browser.processes import new_profile
from eyelevel.browser.steps import AfterLoad, split_by_steps
from eyelevel.browser.waiting import Phases, settle, until_now

START_TIMEOUT_S = 60.0
"""Time limit for Firefox to answer; normally two seconds, many times that on a busy machine."""

COLLECT_TIMEOUT_S = 15.0
STILL_MOVING_MS = 500.0
CLOCK_STEP_S_MAX = 0.005
"""Maximum change of the wall clock against the monotonic clock during a load, seconds."""

_CLEAR = """new Promise((resolve) => {
  const kinds = Ci.nsIClearDataService;
  const which = kinds.CLEAR_ALL_CACHES | kinds.CLEAR_COOKIES | kinds.CLEAR_DOM_STORAGES;
  Services.clearData.deleteData(which, { onDataDeleted: (failed) => resolve(String(failed)) });
})"""

_CLOSE_CONNECTIONS = """
Services.obs.notifyObservers(null, 'net:cancel-all-connections');
Services.obs.notifyObservers(null, 'net:prune-all-connections'); '0'"""

EVENTS = ["browsingContext", "network", "log.entryAdded"]


@dataclass(frozen=True)
class _WallClock:
    """Implements `PageClock` in seconds of wall time."""

    first_start_s: float
    last_start_s: float
    documents: int


def load_in_firefox(settings: LoadSettings) -> RawLoad:
    """Load `settings.url` in a new Firefox; see `eyelevel.browser.browsers.load_page`."""
    started_s = time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(new_profile())
        screen = None
        if settings.browser.capture:
            screen = stack.enter_context(Screen(folder, window_px(settings), settings.cores))
        firefox = stack.enter_context(Firefox(settings, folder, screen))
        raw = _Load(settings, firefox, screen, started_s).run()
        settings.when_over(raw)
        ending_s = time.monotonic()
    return replace(raw, wall_ms=until_now(raw.wall_ms, started_s, ending_s))


class _Load:
    """Drives one load; each instance runs once."""

    def __init__(
        self, settings: LoadSettings, firefox: Firefox, screen: Screen | None, started_s: float
    ) -> None:
        self._settings = settings
        self._firefox = firefox
        self._screen = screen
        self._phases = Phases(started_s)
        self._first_visit: tuple[LoadEnd, str] = ("complete", "")
        self._version = ""
        self._settled = False
        self._start_cpu_s = 0.0
        self._ahead_s = 0.0
        self._ended_on = ""
        self._timings_refused = ""
        self._timing_differences_ms: dict[str, float] = {}
        self._steps: list[StepLoad] = []

    def run(self) -> RawLoad:
        """Start the browser, load, and collect.

        A crash after navigation is an outcome, not an error.
        """
        try:
            self._open(time.monotonic() + START_TIMEOUT_S)
        except BrowserError as error:
            raise BrowserStartError(
                f"{error}; see `eyelevel doctor`; its output: {self._firefox.log_tail()}"
            ) from error
        self._ahead_s = time.time() - time.monotonic()
        ended: LoadEnd = "browser-crashed"
        detail, capped, start_ms, navigation = "", False, time.time() * 1e3, Navigation()
        if self._first_visit[0] != "complete":
            ended, reason = self._first_visit
            detail = f"the first visit, before the measured one: {reason}"
            return RawLoad(ended, detail, browser_version=f"Firefox/{self._version}")
        try:
            ended, detail, capped = self._tab.load()
            self._phases.mark("quiet")
            if ended in ("complete", "timeout"):
                start_ms, navigation = self._collect()
                navigation = navigation.of(ended)
            if ended == "complete" and self._settings.browser.steps:
                self._phases.mark("collect")
                self._do_steps(start_ms)
        except BrowserError as error:
            # A timeout is a result in itself; what its page did not answer stays unknown.
            if ended != "timeout":
                gone = isinstance(error, BrowserGoneError)
                detail = f"{'' if gone else 'the page loaded but '}{error}"
                ended = "browser-crashed"
        return self._raw_load(ended, detail, capped, start_ms, navigation)

    def _raw_load(
        self, ended: LoadEnd, detail: str, capped: bool, start_ms: float, navigation: Navigation
    ) -> RawLoad:
        frames = self._frames(start_ms)
        if abs(time.time() - time.monotonic() - self._ahead_s) > CLOCK_STEP_S_MAX:
            raise BrowserStartError(
                "the machine's wall clock was set during the load, which Firefox's "
                "times rest on; load again once it is left alone"
            )
        self._phases.mark("after_load" if self._steps else "collect")
        session = self._firefox.session
        raw = RawLoad(
            ended=ended,
            detail=detail,
            navigation=navigation,
            objects=self._tab.network.objects(start_ms),
            frames=frames,
            console_errors=tuple(self._tab.console_errors),
            browser_version=f"Firefox/{self._version}",
            settled=self._settled,
            requests_lost=self._tab.network.lost,
            ended_on=self._ended_on,
            timings_refused=self._timings_refused,
            timing_differences_ms=self._timing_differences_ms,
            navigation_start_ns=round((start_ms / 1e3 - self._ahead_s) * 1e9),
            cpu_s=session.cpu_s() if session is not None else 0.0,
            start_cpu_s=self._start_cpu_s,
            wall_ms=self._phases.lengths_ms(),
            filmed=self._screen is not None,
            suspended=self._screen.suspended_programs() if self._screen is not None else (),
        )
        raw = split_by_steps(raw, self._steps)
        ends_ms = [step.begun_ms for step in raw.after_load][:1]
        if self._screen is not None:
            ends_ms.append(self._screen.ended_ms - start_ms)
        steps = [
            replace(step, capped=step.capped or _still_moving(step.frames, step.ended_ms))
            for step in raw.after_load
        ]
        moving = bool(ends_ms) and _still_moving(raw.frames, ends_ms[0])
        return replace(raw, capped=capped or moving, after_load=tuple(steps))

    def _open(self, deadline: float) -> None:
        """Open an empty page with the requested viewport, and start recording the screen."""
        settings = self._settings
        self._bidi = bidi = self._firefox.connect(deadline)
        session_info = bidi.call("session.new", {"capabilities": {}}, deadline)
        self._version = session_info["capabilities"]["browserVersion"]
        self._phases.mark("start")
        if (extension := self._firefox.extension) is not None:
            data = {"type": "path", "path": str(extension)}
            bidi.call("webExtension.install", {"extensionData": data}, deadline)
        if settings.same_page is not None and settings.browser.javascript:
            declared = f"() => {{ {settings.same_page.script()} }}"
            preload = {"functionDeclaration": declared}
            bidi.call("script.addPreloadScript", preload, deadline)
        # A page must not fill the disk.
        denied = {"downloadBehavior": {"type": "denied"}}
        bidi.call("browser.setDownloadBehavior", denied, deadline)
        bidi.call("session.subscribe", {"events": EVENTS}, deadline)
        self._tab = self._open_tab(deadline)
        if settings.browser.is_again:
            self._visit_first()
            deadline = time.monotonic() + START_TIMEOUT_S
        self._phases.mark("open")
        session = self._firefox.session
        assert session is not None
        self._settled = settle(session.cpu_s, bidi.pump, lambda: True)
        self._start_cpu_s = session.cpu_s()
        if self._screen is not None:
            corner, size = self._tab.place_px(deadline)
            self._screen.film(corner, size, _fit(size, settings.picture_px))
        self._phases.mark("settle")

    def _open_tab(self, deadline: float) -> FirefoxTab:
        tab = FirefoxTab(self._bidi, self._settings, self._version, self._phases)
        tab.open(deadline)
        return tab

    def _visit_first(self) -> None:
        """Make the visit before the measured one, in a tab of its own, and clean up after it."""
        ended, detail, _ = self._tab.load()
        self._first_visit = ended, detail
        if ended != "complete":
            return
        deadline = time.monotonic() + START_TIMEOUT_S
        # Open the next tab first: the window closes with its last tab.
        measured = self._open_tab(deadline)
        self._tab.close(deadline)
        _clear_between_visits(self._bidi, self._settings.browser.visit == "warm", deadline)
        self._settings.between_visits()
        self._tab = measured

    def _collect(self) -> tuple[float, Navigation]:
        """Return navigation start, milliseconds of wall time, and the page's own timings."""
        if self._screen is not None and not self._settings.browser.steps:
            self._screen.stop()
        documents = max(self._tab.documents, 1)
        # The first document may be gone, but its request began within 1 ms of its start.
        first_ms = self._tab.network.first_request_ms()
        if has_no_server(self._tab.shown_url):
            self._ended_on = self._tab.shown_url
            return first_ms or time.time() * 1e3, Navigation(documents=documents)
        try:
            answer, events = self._tab.timings(time.monotonic() + COLLECT_TIMEOUT_S)
            self._timing_differences_ms = differences_ms(answer, events)
            self._timings_refused = disagreement(answer, events)
            if not self._timings_refused:
                last_ms = answer["timeOrigin"]
                if documents == 1 or first_ms is None:
                    first_ms = last_ms
                clock = _WallClock(first_ms / 1e3, last_ms / 1e3, documents)
                navigation = navigation_from(answer, clock, {})
                # Firefox reports neither long tasks nor layout shifts: they are unknown, not 0.
                unknown = replace(navigation, long_tasks_ms=None, cumulative_layout_shift=None)
                return first_ms, unknown
        except PageAnswerError as error:
            self._timings_refused = str(error)
        return first_ms or time.time() * 1e3, Navigation(documents=documents)

    def _do_steps(self, start_ms: float) -> None:
        """Perform the user's steps after the load."""
        page_input = BiDiInput(self._bidi, self._tab, self._settings, self._ahead_s)
        start_s, network = start_ms / 1e3 - self._ahead_s, self._tab.network
        after = AfterLoad(
            page_input, self._settings, self._bidi.pump, lambda: network.waits, start_s
        )
        self._steps = after.done
        after.run()

    def _frames(self, start_ms: float) -> tuple[Frame, ...]:
        if self._screen is None:
            return ()
        self._screen.stop()
        return self._screen.frames(start_ms)


def _still_moving(frames: Sequence[Frame], ended_ms: float) -> bool:
    """Return whether the frames changed within the last half second before `ended_ms`."""
    return len(frames) > 1 and ended_ms - frames[-1].at_ms < STILL_MOVING_MS


def _fit(size_px: tuple[int, int], most_px: tuple[int, int]) -> tuple[int, int]:
    """Return a frame size scaled down to fit `most_px`, with even sides."""
    factor = min(1.0, most_px[0] / size_px[0], most_px[1] / size_px[1])
    width, height = (max(2, round(length * factor / 2) * 2) for length in size_px)
    return width, height


def _clear_between_visits(bidi: BiDi, connections_stay: bool, deadline: float) -> None:
    """Clear everything but the browser's knowledge of servers: TLS sessions, QUIC tokens, HSTS.

    Clears cookies, storage and caches of pages, and closes connections unless `connections_stay`.
    WebDriver BiDi has no command for that, so the script runs in the browser's own window
    (`moz:scope`, which needs `--remote-allow-system-access`). The first visit's tab must be closed
    before. Raises the errors of `BiDi.call`.
    """
    tree = bidi.call("browsingContext.getTree", {"moz:scope": "chrome"}, deadline)
    window = tree["contexts"][0]["context"]
    for script in (_CLEAR, *(() if connections_stay else (_CLOSE_CONNECTIONS,))):
        parameters = {"expression": script, "target": {"context": window}, "awaitPromise": True}
        reply = bidi.call("script.evaluate", parameters, deadline)
        if (reason := text_answer(reply)) != "0":
            raise CommandError(f"clearing up after the first visit failed: {reason}")
