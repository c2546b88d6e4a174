"""Total Blocking Time: how long long tasks kept the page from responding.

The sum, over the main thread's tasks above 50 ms, of their time beyond 50 ms, from First Contentful
Paint on (web.dev/tbt). Lighthouse ends at Time to Interactive, which needs five quiet seconds that
a load does not wait for: here it ends with the load.
"""

from __future__ import annotations

from eyelevel.base.json_types import JsonMapping

LONG_TASK_MS = 50.0


def total_blocking_time(record: JsonMapping) -> float | None:
    """Return milliseconds; None if nothing was painted or no tasks were reported."""
    navigation = record["navigation"]
    painted_ms, tasks = navigation["first_contentful_paint_ms"], navigation["long_tasks_ms"]
    if painted_ms is None or tasks is None:
        return None
    return sum(_blocking_ms(start_ms, length_ms, painted_ms) for start_ms, length_ms in tasks)


def _blocking_ms(start_ms: float, length_ms: float, painted_ms: float) -> float:
    """Return the blocking time of a task; one that is running at the first paint is clipped there.

    Lighthouse clips it in the same way.
    """
    after_ms = start_ms + length_ms - max(start_ms, painted_ms)
    return max(after_ms - LONG_TASK_MS, 0.0)
