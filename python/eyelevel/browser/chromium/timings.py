"""A page's own clock readings in Chromium, read once after the load, and its timer's gaps.

A timer of 20 ms runs in the main frame. If it comes late by more than a long task explains, the
renderer may not have been given the processor (`eyelevel.analysis.trials.facts` judges).
"""

from __future__ import annotations

from eyelevel.browser.chromium.devtools import DevTools
from eyelevel.browser.page_timings import SCRIPT
from eyelevel.json_types import JsonObject

WORLD = "eyelevel"
"""The isolated JavaScript world of the timer; pages see nothing of it."""

GAP_KEPT_MS = 50
GAPS_MAX = 1000
"""Shorter gaps are not kept, and no more than this many."""

TIMER_SCRIPT = f"""
(() => {{
  if (window !== window.top || globalThis.timerGaps) return;
  globalThis.timerGaps = [];
  let last = performance.now();
  const tick = () => {{
    const now = performance.now();
    if (now - last > {GAP_KEPT_MS} && timerGaps.length < {GAPS_MAX}) {{
      timerGaps.push([last, now - last]);
    }}
    last = now;
    setTimeout(tick, 20);
  }};
  setTimeout(tick, 20);
}})()
"""

# Read in our own world: a page may have replaced its `navigator.connection`.
READ_SCRIPT = """({
  timerGaps: globalThis.timerGaps ?? [],
  effectiveConnectionType: navigator.connection?.effectiveType ?? null,
})"""


class TimerWorld:
    """Knows the execution context of the timer in the main frame's newest document."""

    def __init__(self) -> None:
        self.context: str | None = None

    def handle_event(self, method: str, parameters: JsonObject, main_frame: str) -> None:
        """Take one event of the page's session."""
        if method != "Runtime.executionContextCreated":
            return
        context = parameters["context"]
        about = context.get("auxData", {})
        if context["name"] == WORLD and about.get("frameId") == main_frame:
            self.context = context["uniqueId"]


def read_timings(
    devtools: DevTools, page: str, timer: TimerWorld, javascript: bool, deadline: float
) -> tuple[JsonObject, JsonObject]:
    """The answers of `SCRIPT` and of the timer's world in the page with the session `page`.

    `javascript` says whether the page's scripts ran; if not, they are let run meanwhile, since
    nothing would answer.
    Raises the errors of `DevTools.call`.
    """
    if not javascript:
        devtools.call("Emulation.setScriptExecutionDisabled", {"value": False}, page, deadline)
    evaluate = {"expression": SCRIPT, "awaitPromise": True, "returnByValue": True}
    timings = devtools.call("Runtime.evaluate", evaluate, page, deadline)["result"]["value"]
    of_timer: JsonObject = {}
    if timer.context is not None:
        read = {
            "expression": READ_SCRIPT,
            "uniqueContextId": timer.context,
            "returnByValue": True,
        }
        answer = devtools.call("Runtime.evaluate", read, page, deadline)
        of_timer = answer["result"].get("value", {})
    if not javascript:
        devtools.call("Emulation.setScriptExecutionDisabled", {"value": True}, page, deadline)
    return timings, of_timer
