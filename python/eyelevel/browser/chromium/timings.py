"""A page's own clock readings in Chromium, read once after the load, and its timer's gaps.

A timer of 20 ms runs in the main frame. If it comes late by more than a long task explains, the
renderer may not have been given the processor (`eyelevel.analysis.trials.facts` judges).
"""

from __future__ import annotations

from eyelevel.browser.chromium.devtools import DevTools
from eyelevel.browser.page_answer import SCRIPT, WORLD, PageAnswer, check_answer
from eyelevel.errors import PageAnswerError

GAP_KEPT_MS = 50
GAPS_MAX = 1000
"""Shorter gaps are not kept, and no more than this many."""

# A page counts its own timers' numbers up and may clear them all: a posted task has none.
TIMER_SCRIPT = f"""
(() => {{
  if (window !== window.top || Object.hasOwn(globalThis, 'timerGaps')) return;
  const gaps = [];
  globalThis.timerGaps = gaps;
  let last = performance.now();
  const next = () => scheduler.postTask(tick, {{ delay: 20 }});
  const tick = () => {{
    const now = performance.now();
    if (now - last > {GAP_KEPT_MS} && gaps.length < {GAPS_MAX}) gaps.push([last, now - last]);
    last = now;
    next();
  }};
  next();
}})()
"""


def read_timings(
    devtools: DevTools, page: str, main_frame: str, javascript: bool, deadline: float
) -> PageAnswer:
    """Return the checked answer of `SCRIPT` in our world of the page with the session `page`.

    `javascript` says whether the page's scripts ran; if not, they are let run meanwhile, since
    nothing would answer. The events of the largest paint come before this returns.
    Raises the errors of `DevTools.call` and `PageAnswerError`.
    """

    def call(method: str, parameters: dict[str, object]) -> dict[str, object]:
        return devtools.call(method, parameters, page, deadline)

    if not javascript:
        call("Emulation.setScriptExecutionDisabled", {"value": False})
    # The world that the timer runs in, if it does.
    world = call("Page.createIsolatedWorld", {"frameId": main_frame, "worldName": WORLD})
    context = world["executionContextId"]
    evaluate = {"expression": SCRIPT, "contextId": context, "returnByValue": True}
    reply = devtools.call("Runtime.evaluate", evaluate, page, deadline)
    for types in (["largest-contentful-paint"], []):
        # What was buffered is sent before the answer; while the page loads nothing is.
        call("PerformanceTimeline.enable", {"eventTypes": types})
    if not javascript:
        call("Emulation.setScriptExecutionDisabled", {"value": True})
    if "exceptionDetails" in reply:
        raise PageAnswerError("the page's own timings cannot be read: the script failed there")
    return check_answer(reply.get("result", {}).get("value"))
