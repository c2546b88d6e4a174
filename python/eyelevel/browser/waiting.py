"""Wait for the end of a navigation or of a step after it: one loop for every browser."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from eyelevel.browser.observations import Ended, LoadSettings
from eyelevel.browser.quiet import QuietRule, Verdict

Pump = Callable[[float], bool]
"""Handles one message of the browser, waits for it until a deadline of `time.monotonic()`."""


def wait_for_end(
    rule: QuietRule, pump: Pump, waits: Callable[[], bool], failed: Callable[[], str]
) -> Verdict | Literal["failed"]:
    """Handle messages until `rule` says that it is over, or `failed` gives a reason.

    `waits`: whether a request is under way. Raises what `pump` does.
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
) -> tuple[Ended, str, bool]:
    """The same for a navigation: how it ended, why, and whether the cap ended it."""
    verdict = wait_for_end(rule, pump, waits, failed)
    if verdict == "failed":
        return "navigation-failed", f"navigating to {settings.url}: {failed()}", False
    if verdict == "timeout":
        return "timeout", f"no load event within {settings.timeout_s:g} s", False
    return "complete", "", verdict == "capped"


def rule_from_now(settings: LoadSettings) -> QuietRule:
    """The rule of what begins now."""
    return QuietRule(time.monotonic(), settings.timeout_s, settings.quiet_s, settings.cap_s)
