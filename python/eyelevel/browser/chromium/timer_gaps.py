"""The page's own timer: when the renderer did not run though nothing in the page kept it busy.

A timer of 20 ms runs in the main frame. Where it comes late by more than a long task explains, the
renderer may not have been given the processor (`eyelevel.analysis.trials.timer_gap` judges).
"""

from __future__ import annotations

from typing import Any

WORLD = "eyelevel"
"""The isolated JavaScript world of the timer; pages see nothing of it."""

GAP_KEPT_MS = 50
GAPS_MAX = 1000
"""Gaps below are not kept, and no more than so many."""

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

# Of our own world: a page may have put what it likes in the place of its `navigator.connection`.
READ_SCRIPT = """({
  timerGaps: globalThis.timerGaps ?? [],
  effectiveConnectionType: navigator.connection?.effectiveType ?? null,
})"""


class TimerWorld:
    """Knows the execution context of the timer in the main frame's newest document."""

    def __init__(self) -> None:
        self.context: str | None = None

    def handle_event(self, method: str, parameters: dict[str, Any], main_frame: str) -> None:
        """Take one event of the page's session."""
        if method != "Runtime.executionContextCreated":
            return
        context = parameters["context"]
        about = context.get("auxData", {})
        if context["name"] == WORLD and about.get("frameId") == main_frame:
            self.context = context["uniqueId"]
