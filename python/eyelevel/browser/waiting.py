"""Decide when a load or a step is over, and wait for that: one loop for every browser.

`QuietRule` is pure, and the caller passes the time; the functions below it handle a browser's
messages until the rule is met.

Wall time of a load's phases.

Wait until a browser that has just started is idle.

After its first window Chromium 156 keeps two cores busy for 0.4 to 0.5 s (component set-up, first
compositing, renderer warm-up) and is idle from then on; a navigation within that time is slower,
and its time to first byte varies more. See `docs/decisions/0006-browser-start.md`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Literal

from eyelevel.browser.observations import LoadEnd, LoadSettings

Verdict = Literal["loading", "complete", "capped", "timeout"]

Pump = Callable[[float], bool]
"""Handles one message of the browser, waiting for it until a deadline of `time.monotonic()`."""


class QuietRule:
    """The rule that ends a load, the same for every stack: a quiet time after the load event.

    Quiet means that nothing is requested or painted for `quiet_s`. All times are monotonic seconds.
    An open request delays the end, up to `cap_s` after the load event; without a load event the
    load ends `timeout_s` after the navigation.
    """

    def __init__(self, navigated_s: float, timeout_s: float, quiet_s: float, cap_s: float) -> None:
        self._timeout_at_s = navigated_s + timeout_s
        self._quiet_s = quiet_s
        self._cap_s = cap_s
        self._load_event_s: float | None = None
        self._active_s = navigated_s

    def handle_activity(self, now_s: float) -> None:
        """Note that a request began or ended, or that the frame changed."""
        self._active_s = max(self._active_s, now_s)

    def handle_load_event(self, now_s: float) -> None:
        """Note the main document's load event."""
        self._load_event_s = now_s
        self.handle_activity(now_s)

    def handle_new_document(self, now_s: float) -> None:
        """Note a new document, whose load event is the one to wait for."""
        self._load_event_s = None
        self.handle_activity(now_s)

    def verdict(self, now_s: float, requests_open: bool) -> Verdict:
        """Return whether the load is over at `now_s`, and why."""
        if self._load_event_s is None:
            return "timeout" if now_s >= self._timeout_at_s else "loading"
        if not requests_open and now_s >= self._active_s + self._quiet_s:
            return "complete"
        if now_s >= self._load_event_s + self._cap_s:
            return "capped"
        return "loading"

    def next_deadline(self, requests_open: bool) -> float:
        """Return when to ask for the verdict again if nothing happens, monotonic seconds."""
        if self._load_event_s is None:
            return self._timeout_at_s
        cap_at_s = self._load_event_s + self._cap_s
        return cap_at_s if requests_open else min(cap_at_s, self._active_s + self._quiet_s)


def wait_for_end(
    rule: QuietRule, pump: Pump, waits: Callable[[], bool], failed: Callable[[], str]
) -> Verdict | Literal["failed"]:
    """Handle messages until `rule` ends the load, or `failed` returns a reason.

    `waits` returns whether a request is open. Raises the errors of `pump`.
    """
    while True:
        pump(rule.next_deadline(waits()))
        if failed():
            return "failed"
        verdict = rule.verdict(time.monotonic(), waits())
        if verdict != "loading":
            return verdict


def wait_for_load(
    settings: LoadSettings,
    rule: QuietRule,
    pump: Pump,
    waits: Callable[[], bool],
    failed: Callable[[], str],
) -> tuple[LoadEnd, str, bool]:
    """Wait for a navigation to end; returns how it ended, why, and whether the cap ended it."""
    verdict = wait_for_end(rule, pump, waits, failed)
    if verdict == "failed":
        return "navigation-failed", f"navigating to {settings.url}: {failed()}", False
    if verdict == "timeout":
        return "timeout", f"no load event within {settings.browser.limit_s:g} s", False
    return "complete", "", verdict == "capped"


def rule_from_now(settings: LoadSettings) -> QuietRule:
    """Return the rule for a load or step that begins now."""
    return QuietRule(time.monotonic(), settings.browser.limit_s, settings.quiet_s, settings.cap_s)


WINDOW_S = 0.05
"""Length of the windows over which CPU use is read: five ticks of the kernel's accounting."""

IDLE_CPU_S_MAX = 0.01
"""Maximum CPU seconds per idle window: one tick (20 % of a core), since timers fire now and
then.
"""

IDLE_WINDOWS = 2
"""Consecutive idle windows needed; start-up has no pause of 0.1 s."""

SETTLE_TIMEOUT_S = 1.2
"""Time limit for settling. On a loaded machine start-up takes longer than is worth waiting for:
the load still counts, and the run's own checks decide whether the machine was fit for it.
"""


def settle(
    cpu_s: Callable[[], float], pump: Callable[[float], bool], ready: Callable[[], bool]
) -> bool:
    """Wait until the browser is idle and `ready`; returns False if that took too long.

    `cpu_s` returns the CPU seconds of all its processes, `pump` handles messages until a deadline.
    """
    give_up_s = time.monotonic() + SETTLE_TIMEOUT_S
    idle_windows = 0
    used_s = cpu_s()
    while idle_windows < IDLE_WINDOWS or not ready():
        window_end_s = time.monotonic() + WINDOW_S
        if window_end_s > give_up_s:
            return False
        while pump(window_end_s):
            pass
        before_s, used_s = used_s, cpu_s()
        idle_windows = idle_windows + 1 if used_s - before_s <= IDLE_CPU_S_MAX else 0
    return True


logger = logging.getLogger(__name__)

PHASES = ("start", "open", "settle", "load", "quiet", "collect", "after_load")
"""Phases in their order; each ends at its mark."""


class Phases:
    """Records when each phase of a load ended."""

    def __init__(self, started_s: float) -> None:
        self._started_s = started_s
        self._marks_s: dict[str, float] = {}

    def mark(self, phase: str) -> None:
        """End `phase` now."""
        self._marks_s[phase] = now_s = time.monotonic()
        logger.info(
            "phase `%s` ended, %.0f ms after the start", phase, (now_s - self._started_s) * 1e3
        )

    def has_ended(self, phase: str) -> bool:
        """Return whether `phase` has ended."""
        return phase in self._marks_s

    def lengths_ms(self) -> dict[str, float]:
        """Return the length of each phase that ended, milliseconds."""
        lengths, before_s = {}, self._started_s
        for phase in PHASES:
            if phase in self._marks_s:
                lengths[phase] = milliseconds(self._marks_s[phase] - before_s)
                before_s = self._marks_s[phase]
        return lengths


def until_now(
    lengths_ms: Mapping[str, float], started_s: float, ending_s: float
) -> dict[str, float]:
    """Return `lengths_ms` with the browser's `end` and the `total`, both of which end now."""
    now_s = time.monotonic()
    end_ms, total_ms = milliseconds(now_s - ending_s), milliseconds(now_s - started_s)
    return {**lengths_ms, "end": end_ms, "total": total_ms}


def milliseconds(seconds: float) -> float:
    """Convert seconds to milliseconds, rounded to the microsecond."""
    return round(seconds * 1e3, 3)
