"""One load of one page in a fresh Firefox, by WebDriver BiDi.

Clocks. Firefox counts from the wall time of its start by the monotonic clock, and ffmpeg stamps
what it films with wall time, too. Both become CLOCK_MONOTONIC by the difference of the two clocks,
taken before and after the load; a load during which somebody set the wall clock is no measurement.

The screen is filmed, so nobody knows while a page loads whether it was painted: the quiet second
looks at requests alone. Where the film still changes in its last half second the load counts as
capped, as one that was still busy.
"""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import dataclass, replace
from typing import Any

from eyelevel.browser.bidi import BiDi
from eyelevel.browser.bidi_network import BiDiNetworkLog
from eyelevel.browser.chromium import new_profile
from eyelevel.browser.errors import BrowserError, BrowserGoneError, BrowserStartError, CommandError
from eyelevel.browser.firefox import TOOLBARS_PX, Firefox
from eyelevel.browser.observations import Ended, Frame, LoadSettings, Navigation, RawLoad
from eyelevel.browser.page_timings import SCRIPT, navigation_from
from eyelevel.browser.phases import Phases, milliseconds
from eyelevel.browser.quiet import QuietRule
from eyelevel.browser.screen import Screen
from eyelevel.browser.settle import settle

START_TIMEOUT_S = 60.0
"""For Firefox to answer; it takes two seconds, on a busy machine many times that."""

COLLECT_TIMEOUT_S = 15.0
STILL_MOVING_MS = 500.0
CLOCK_STEP_S_MAX = 0.005
"""By how much the wall clock may move against the monotonic one during a load."""

ERRORS_MAX = 50
WHITE_PAGE = "data:text/html,<link rel=icon href=data:,>"
EVENTS = ["browsingContext", "network", "log.entryAdded"]

WHERE_SCRIPT = "JSON.stringify([mozInnerScreenX, mozInnerScreenY, innerWidth, innerHeight])"


@dataclass(frozen=True)
class _Clock:
    """What `navigation_from` asks of a clock, in seconds of wall time."""

    first_start_s: float
    last_start_s: float
    documents: int


def load_in_firefox(settings: LoadSettings) -> RawLoad:
    """Load `settings.url` in a new Firefox; as `eyelevel.browser.load_page`."""
    started_s = time.monotonic()
    profile = new_profile()
    width, height = settings.viewport_px
    with contextlib.ExitStack() as stack:
        screen = None
        if settings.capture != "none":
            size = (width, height + TOOLBARS_PX)
            screen = stack.enter_context(Screen(profile, size))
        display = screen.display if screen else None
        firefox = stack.enter_context(Firefox(settings, profile, display))
        raw = _Load(settings, firefox, screen, started_s).run()
        ending_s = time.monotonic()
    ended_s = time.monotonic()
    wall_ms = {**raw.wall_ms, "end": milliseconds(ended_s - ending_s)}
    wall_ms["total"] = milliseconds(ended_s - started_s)
    return replace(raw, wall_ms=wall_ms)


class _Load:
    """The driver of one load; one instance, one `run`."""

    def __init__(
        self, settings: LoadSettings, firefox: Firefox, screen: Screen | None, started_s: float
    ) -> None:
        self._settings = settings
        self._firefox = firefox
        self._screen = screen
        self._phases = Phases(started_s)
        self._network = BiDiNetworkLog()
        self._errors: list[str] = []
        self._rule: QuietRule | None = None
        self._context = ""
        self._documents = 0
        self._navigation_error = ""
        self._version = ""
        self._settled = False
        self._start_cpu_s = 0.0

    def run(self) -> RawLoad:
        """Start, load, collect. A browser that dies is an outcome from the navigation on."""
        try:
            self._bidi = self._open(time.monotonic() + START_TIMEOUT_S)
        except BrowserError as error:
            raise BrowserStartError(f"{error}; it said: {self._firefox.log_tail()}") from error
        before_s = time.time() - time.monotonic()
        ended: Ended = "browser-crashed"
        detail, capped, start_ms, navigation = "", False, time.time() * 1e3, Navigation()
        try:
            ended, detail, capped = self._load()
            self._phases.mark("quiet")
            if ended in ("complete", "timeout"):
                start_ms, navigation = self._collect()
        except BrowserError as error:
            # A timeout is a result in itself; whatever its page could not answer stays unknown.
            if ended != "timeout":
                gone = isinstance(error, BrowserGoneError)
                ended, detail = (
                    "browser-crashed",
                    f"{'' if gone else 'the page loaded but '}{error}",
                )
        frames = self._frames(start_ms)
        if abs(time.time() - time.monotonic() - before_s) > CLOCK_STEP_S_MAX:
            raise BrowserStartError(
                "the machine's wall clock was set during the load, which Firefox's times rest on"
            )
        self._phases.mark("collect")
        session = self._firefox.session
        return RawLoad(
            ended=ended,
            detail=detail,
            navigation=navigation,
            objects=self._network.objects(start_ms),
            frames=frames,
            console_errors=tuple(self._errors),
            browser_version=f"Firefox/{self._version}",
            capped=capped or self._still_moving(frames, start_ms),
            settled=self._settled,
            navigation_start_ns=round((start_ms / 1e3 - before_s) * 1e9),
            cpu_s=session.cpu_s() if session is not None else 0.0,
            start_cpu_s=self._start_cpu_s,
            wall_ms=self._phases.lengths_ms(),
            filmed=self._screen is not None,
        )

    def _open(self, deadline: float) -> BiDi:
        """An empty page of the wanted size that nobody else uses, filmed from now on."""
        bidi = self._firefox.connect(deadline)
        bidi.on_event = self._handle_event
        said = bidi.call("session.new", {"capabilities": {}}, deadline)
        self._version = said["capabilities"]["browserVersion"]
        self._phases.mark("start")
        tab = bidi.call("browsingContext.create", {"type": "tab"}, deadline)
        self._context = tab["context"]
        width, height = self._settings.viewport_px
        viewport = {"context": self._context, "viewport": {"width": width, "height": height}}
        bidi.call("browsingContext.setViewport", viewport, deadline)
        # A tab that shows nothing yet has the grey of the toolbars; the start state is white.
        blank = {"context": self._context, "url": WHITE_PAGE, "wait": "complete"}
        bidi.call("browsingContext.navigate", blank, deadline)
        if self._settings.same_requests is not None:
            declared = f"() => {{ {self._settings.same_requests.script()} }}"
            preload = {"functionDeclaration": declared}
            bidi.call("script.addPreloadScript", preload, deadline)
        bidi.call("session.subscribe", {"events": EVENTS}, deadline)
        self._phases.mark("open")
        session = self._firefox.session
        assert session is not None
        self._settled = settle(session.cpu_s, bidi.pump, lambda: True)
        self._start_cpu_s = session.cpu_s()
        if self._screen is not None:
            x, y, *size = json.loads(self._evaluate(bidi, WHERE_SCRIPT, deadline))
            if tuple(size) != self._settings.viewport_px:
                raise BrowserStartError(f"Firefox's viewport is {size}, not what was asked for")
            where, to = (round(x), round(y)), self._settings.picture_px
            self._screen.film(where, self._settings.viewport_px, _fit((width, height), to))
        self._phases.mark("settle")
        return bidi

    def _load(self) -> tuple[Ended, str, bool]:
        settings = self._settings
        now_s = time.monotonic()
        self._rule = rule = QuietRule(now_s, settings.timeout_s, settings.quiet_s, settings.cap_s)
        asked = {"context": self._context, "url": settings.url, "wait": "none"}
        self._bidi.send("browsingContext.navigate", asked, self._handle_navigate_reply)
        while True:
            self._bidi.pump(rule.next_deadline(self._network.waits))
            if self._navigation_error:
                detail = f"navigating to {settings.url}: {self._navigation_error}"
                return "navigation-failed", detail, False
            verdict = rule.verdict(time.monotonic(), self._network.waits)
            if verdict == "timeout":
                return "timeout", f"no load event within {settings.timeout_s:g} s", False
            if verdict != "loading":
                return "complete", "", verdict == "capped"

    def _collect(self) -> tuple[float, Navigation]:
        """Navigation start in milliseconds of wall time, and the page's own timings."""
        if self._screen is not None:
            self._screen.stop()
        deadline = time.monotonic() + COLLECT_TIMEOUT_S
        asked = f"{SCRIPT.strip()}.then((found) => JSON.stringify([performance.timeOrigin, found]))"
        last_ms, found = json.loads(self._evaluate(self._bidi, asked, deadline))
        first_ms = last_ms
        if self._documents > 1:
            # The first document is gone; its request began within a millisecond of its start.
            first_ms = self._network.first_request_ms() or last_ms
        clock = _Clock(first_ms / 1e3, last_ms / 1e3, max(self._documents, 1))
        navigation = navigation_from(found, (), clock, {})
        # Firefox observes neither long tasks nor layout shifts: unknown, which is not none.
        navigation = replace(navigation, long_tasks_ms=None, cumulative_layout_shift=None)
        return first_ms, navigation

    def _frames(self, start_ms: float) -> tuple[Frame, ...]:
        if self._screen is None:
            return ()
        self._screen.stop()
        return self._screen.frames(start_ms)

    def _still_moving(self, frames: tuple[Frame, ...], start_ms: float) -> bool:
        """Whether the film's last half second shows a change."""
        if self._screen is None or len(frames) < 2:
            return False
        return self._screen.ended_ms - start_ms - frames[-1].at_ms < STILL_MOVING_MS

    def _evaluate(self, bidi: BiDi, expression: str, deadline: float) -> str:
        asked = {
            "expression": expression,
            "target": {"context": self._context},
            "awaitPromise": True,
        }
        said = bidi.call("script.evaluate", asked, deadline)
        if said["type"] != "success":
            raise CommandError(f"the page threw: {said['exceptionDetails']['text']}")
        text: str = said["result"]["value"]
        return text

    def _handle_event(self, method: str, parameters: dict[str, Any]) -> None:
        now_s = time.monotonic()
        if method == "log.entryAdded" and parameters["level"] == "error":
            if len(self._errors) < ERRORS_MAX:
                self._errors.append(parameters.get("text") or "")
            return
        if self._rule is None:
            return
        if self._network.handle_event(method, parameters):
            self._rule.handle_activity(now_s)
        if parameters.get("context") != self._context:
            return
        if method == "browsingContext.load":
            self._rule.handle_load_event(now_s)
            self._phases.mark("load")
        elif method == "browsingContext.navigationCommitted":
            self._documents += 1
            self._rule.handle_new_document(now_s)
        elif method == "browsingContext.userPromptOpened":
            # A dialog stops the page until somebody answers.
            answer = {"context": self._context, "accept": True}
            self._bidi.send("browsingContext.handleUserPrompt", answer)

    def _handle_navigate_reply(self, reply: dict[str, Any]) -> None:
        if reply.get("type") == "error":
            self._navigation_error = reply.get("message") or "refused"


def _fit(size_px: tuple[int, int], most_px: tuple[int, int]) -> tuple[int, int]:
    """A picture's size scaled down to the largest one, of even sides."""
    factor = min(1.0, most_px[0] / size_px[0], most_px[1] / size_px[1])
    width, height = (max(2, round(length * factor / 2) * 2) for length in size_px)
    return width, height
