"""Total Blocking Time: how long long tasks kept the page from answering.

The sum, over the main thread's tasks above 50 ms, of what exceeds these 50 ms, from First
Contentful Paint on (web.dev/tbt). Lighthouse ends at Time to Interactive, which needs five quiet
seconds that a load does not wait for: here the end of the load ends it.
"""

from __future__ import annotations

from eyelevel.base.json_types import JsonMapping

LONG_TASK_MS = 50.0


def total_blocking_time(record: JsonMapping) -> float | None:
    """Return milliseconds; None if nothing was painted or the page did not say."""
    navigation = record["navigation"]
    painted_ms, tasks = navigation["first_contentful_paint_ms"], navigation["long_tasks_ms"]
    if painted_ms is None or tasks is None:
        return None
    return sum(_blocking_ms(start_ms, length_ms, painted_ms) for start_ms, length_ms in tasks)


def _blocking_ms(start_ms: float, length_ms: float, painted_ms: float) -> float:
    """Return a task under way at the first paint counts from there on, as Lighthouse clips it."""
    after_ms = start_ms + length_ms - max(start_ms, painted_ms)
    return max(after_ms - LONG_TASK_MS, 0.0)
