"""The page's own clock readings, asked for once, after the load.

Everything comes from buffered performance entries, so nothing runs in the page while it loads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from eyelevel.browser.navigation_clock import NavigationClock
from eyelevel.browser.observations import Navigation

SCRIPT = """
(async () => {
  const buffered = (type) => new Promise((resolve) => {
    let timer = 0;
    try {
      const observer = new PerformanceObserver((list) => {
        clearTimeout(timer);
        observer.disconnect();
        resolve(list.getEntries());
      });
      observer.observe({ type, buffered: true });
      timer = setTimeout(() => resolve(observer.takeRecords()), 50);
    } catch { resolve([]); }
  });
  const [paints, largest, shifts, tasks] = await Promise.all(
    ['paint', 'largest-contentful-paint', 'layout-shift', 'longtask'].map(buffered));
  const navigation = performance.getEntriesByType('navigation')[0];
  const lcp = largest.at(-1);
  const describe = (e) => e ? e.tagName.toLowerCase() + (e.id ? '#' + e.id : '') : null;
  return {
    load: navigation?.loadEventEnd || null,
    domContentLoaded: navigation?.domContentLoadedEventEnd || null,
    response: navigation?.responseStart || null,
    paints: Object.fromEntries(paints.map((e) => [e.name, e.startTime])),
    lcp: lcp ? lcp.startTime : null,
    lcpElement: lcp ? (describe(lcp.element) ?? lcp.url) : null,
    shifts: shifts.filter((e) => !e.hadRecentInput).map((e) => [e.startTime, e.value]),
    tasks: tasks.map((e) => [e.startTime, e.duration]),
  };
})()
"""

SHIFT_WINDOW_MS_MAX = 5000.0
SHIFT_GAP_MS_MAX = 1000.0
"""Cumulative Layout Shift sums sessions of shifts less than 1 s apart and at most 5 s long and
keeps the largest sum (web.dev/articles/cls)."""


def navigation_from(
    answer: dict[str, Any],
    timer_gaps: Sequence[Sequence[float]],
    clock: NavigationClock,
    lifecycle_s: dict[str, float],
) -> Navigation:
    """`SCRIPT`'s answer and the timer's gaps on the clock of the first navigation.

    `lifecycle_s` are the last document's lifecycle events, monotonic seconds.
    """
    offset_ms = (clock.last_start_s - clock.first_start_s) * 1e3

    def at(value: float | None) -> float | None:
        return None if value is None else round(value + offset_ms, 3)

    def since_start(event: str, otherwise_ms: float | None) -> float | None:
        # The page gets paint times rounded to 4 ms, lifecycle events are exact.
        if event in lifecycle_s:
            return round((lifecycle_s[event] - clock.first_start_s) * 1e3, 3)
        return at(otherwise_ms)

    paints = answer["paints"]
    return Navigation(
        page_load_time_ms=at(answer["load"]),
        time_to_first_byte_ms=at(answer["response"]),
        first_contentful_paint_ms=since_start(
            "firstContentfulPaint", paints.get("first-contentful-paint")
        ),
        dom_content_loaded_ms=at(answer["domContentLoaded"]),
        first_paint_ms=since_start("firstPaint", paints.get("first-paint")),
        largest_contentful_paint_ms=at(answer["lcp"]),
        largest_contentful_paint_element=answer["lcpElement"],
        cumulative_layout_shift=round(layout_shift(answer["shifts"]), 6),
        long_tasks_ms=tuple((start + offset_ms, length) for start, length in answer["tasks"]),
        timer_gaps_ms=tuple((start + offset_ms, length) for start, length in timer_gaps),
        documents=clock.documents,
    )


def layout_shift(shifts: list[list[float]]) -> float:
    """Cumulative Layout Shift of `(start_ms, score)` pairs in order of time."""
    largest = total = 0.0
    started_ms = last_ms = -math.inf
    for at_ms, score in shifts:
        if at_ms - last_ms >= SHIFT_GAP_MS_MAX or at_ms - started_ms >= SHIFT_WINDOW_MS_MAX:
            started_ms, total = at_ms, 0.0
        total += score
        last_ms = at_ms
        largest = max(largest, total)
    return largest
