"""How long the page's own timer stood still without a long task to explain it (pure).

A gap says that the renderer did not run though nothing in the page kept it busy. It has no fixed
bound: loads on an idle but slow machine had gaps of 115 to 222 ms without a long task, since
Chromium puts timers behind the work of loading. So a load is judged by the page's other loads.
"""

from collections.abc import Sequence

from eyelevel.json_types import JsonMapping

Spans = Sequence[tuple[float, float]]
"""Start and length, milliseconds."""


def unexplained_gap_ms(gaps_ms: Spans, tasks_ms: Spans) -> float:
    """The most by which a gap exceeds the long tasks in it; 0 without gaps."""
    return max(
        (length - _busy_ms(start, length, tasks_ms) for start, length in gaps_ms), default=0.0
    )


def timer_gap_ms(record: JsonMapping) -> float | None:
    """The same of a record; None where no load came, or its browser (Firefox) tells
    of no long tasks."""
    navigation = record["navigation"]
    if navigation is None or navigation["long_tasks_ms"] is None:
        return None
    return unexplained_gap_ms(navigation["timer_gaps_ms"], navigation["long_tasks_ms"])


def _busy_ms(start: float, length: float, tasks_ms: Spans) -> float:
    end = start + length
    return sum(
        max(0.0, min(end, task_start + task_length) - max(start, task_start))
        for task_start, task_length in tasks_ms
    )
