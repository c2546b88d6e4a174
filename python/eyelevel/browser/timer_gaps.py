"""The page's own timer: when the renderer did not run though nothing in the page kept it busy.

A timer of 20 ms runs in the main frame. Where it comes late by more than a long task explains, the
renderer may not have been given the processor. No outcome rests on it alone: loads on an idle but
slow machine had gaps of 115 to 222 ms without a long task, since Chromium puts timers behind the
work of loading.
"""

from __future__ import annotations

from collections.abc import Sequence
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

READ_SCRIPT = "globalThis.timerGaps ?? []"

Spans = Sequence[tuple[float, float]]
"""Start and length, milliseconds."""


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


def unexplained_gap(gaps_ms: Spans, tasks_ms: Spans) -> tuple[float, float]:
    """Start and length of the gap that exceeds the long tasks in it by most; zeros without gaps."""
    worst = (0.0, 0.0)
    for start, length in gaps_ms:
        busy = sum(
            max(0.0, min(start + length, task + lasted) - max(start, task))
            for task, lasted in tasks_ms
        )
        if length - busy > worst[1]:
            worst = (start, length - busy)
    return worst
