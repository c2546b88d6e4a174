"""Decide when a load or a step is over, and wait for that: one loop for every browser.

`QuietRule` is pure, and the caller passes the time; the functions below it handle a browser's
messages until the rule is met.
"""

from __future__ import annotations

import time
from collections.abc import Callable
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
