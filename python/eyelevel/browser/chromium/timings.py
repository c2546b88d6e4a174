"""Read a page's own timings in Chromium, once after the load, and its timer's gaps.

A timer of 20 ms runs in the main frame. If it fires later than a long task explains, the renderer
may have lacked CPU time (`eyelevel.analysis.trials.facts` decides).
"""

from __future__ import annotations

from eyelevel.base.errors import PageAnswerError
from eyelevel.browser.chromium.devtools import DevTools
from eyelevel.browser.page_answer import SCRIPT, WORLD, PageAnswer, check_answer

GAP_KEPT_MS = 50
GAPS_MAX = 1000
"""Maximum number of gaps stored; gaps of at most `GAP_KEPT_MS` are not stored."""

# A page can clear all timers by counting up their ids; a posted task has no such id.
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
    """Return the validated result of `SCRIPT`, run in our isolated world of the session `page`.

    `javascript`: whether the page's scripts are enabled; if not, they are enabled meanwhile, since
    no script of ours would run either. Events of the largest paint arrive before this returns.
    Raises the errors of `DevTools.call` and `PageAnswerError`.
    """

    def call(method: str, parameters: dict[str, object]) -> dict[str, object]:
        return devtools.call(method, parameters, page, deadline)

    if not javascript:
        call("Emulation.setScriptExecutionDisabled", {"value": False})
    # The timer runs in the world of this name, too.
    world = call("Page.createIsolatedWorld", {"frameId": main_frame, "worldName": WORLD})
    context = world["executionContextId"]
    evaluate = {"expression": SCRIPT, "contextId": context, "returnByValue": True}
    reply = devtools.call("Runtime.evaluate", evaluate, page, deadline)
    for types in (["largest-contentful-paint"], []):
        # Buffered entries are sent before the reply; none are sent while the page loads.
        call("PerformanceTimeline.enable", {"eventTypes": types})
    if not javascript:
        call("Emulation.setScriptExecutionDisabled", {"value": True})
    if "exceptionDetails" in reply:
        raise PageAnswerError("the page's own timings cannot be read: the script failed there")
    return check_answer(reply.get("result", {}).get("value"))
