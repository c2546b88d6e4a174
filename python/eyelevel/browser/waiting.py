"""Decide when a load or a step after it is over, and wait for that: one loop for every browser.

`QuietRule` is pure, its caller gives the time; the functions below it handle a browser's messages
until the rule is met.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from eyelevel.browser.observations import LoadEnd, LoadSettings

Verdict = Literal["loading", "complete", "capped", "timeout"]

Pump = Callable[[float], bool]
"""Handles one message of the browser; waits for it until a deadline of `time.monotonic()`."""


class QuietRule:
    """The end of a load, alike for every stack: nothing requested or painted for `quiet_s` after
    the load event.

    All times are monotonic seconds. A request under way holds the end back, up to `cap_s` after the
    load event; without a load event the load ends `timeout_s` after the navigation.
    """

    def __init__(self, navigated_s: float, timeout_s: float, quiet_s: float, cap_s: float) -> None:
        self._timeout_at_s = navigated_s + timeout_s
        self._quiet_s = quiet_s
        self._cap_s = cap_s
        self._load_event_s: float | None = None
        self._active_s = navigated_s

    def handle_activity(self, now_s: float) -> None:
        """A request began or ended, or the picture changed."""
        self._active_s = max(self._active_s, now_s)

    def handle_load_event(self, now_s: float) -> None:
        """The main document's load event fired."""
        self._load_event_s = now_s
        self.handle_activity(now_s)

    def handle_new_document(self, now_s: float) -> None:
        """The page replaced its document: the load event to wait for is the new one's."""
        self._load_event_s = None
        self.handle_activity(now_s)

    def verdict(self, now_s: float, requests_open: bool) -> Verdict:
        """Return whether the load is over at `now_s`."""
        if self._load_event_s is None:
            return "timeout" if now_s >= self._timeout_at_s else "loading"
        if not requests_open and now_s >= self._active_s + self._quiet_s:
            return "complete"
        if now_s >= self._load_event_s + self._cap_s:
            return "capped"
        return "loading"

    def next_deadline(self, requests_open: bool) -> float:
        """Return when to ask for the verdict again if nothing happens until then."""
        if self._load_event_s is None:
            return self._timeout_at_s
        cap_at_s = self._load_event_s + self._cap_s
        return cap_at_s if requests_open else min(cap_at_s, self._active_s + self._quiet_s)


def wait_for_end(
    rule: QuietRule, pump: Pump, waits: Callable[[], bool], failed: Callable[[], str]
) -> Verdict | Literal["failed"]:
    """Handle messages until `rule` says that it is over, or `failed` gives a reason.

    `waits` says whether a request is under way. Raises what `pump` does.
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
    """`wait_for_end` of a navigation: how it ended, why, and whether the cap ended it."""
    verdict = wait_for_end(rule, pump, waits, failed)
    if verdict == "failed":
        return "navigation-failed", f"navigating to {settings.url}: {failed()}", False
    if verdict == "timeout":
        return "timeout", f"no load event within {settings.browser.limit_s:g} s", False
    return "complete", "", verdict == "capped"


def rule_from_now(settings: LoadSettings) -> QuietRule:
    """Return the rule of a load or step that begins now."""
    return QuietRule(time.monotonic(), settings.browser.limit_s, settings.quiet_s, settings.cap_s)
