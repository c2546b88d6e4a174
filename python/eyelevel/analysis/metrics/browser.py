"""Metrics from the browser's reports: times of its navigation, paints, tasks and layout shifts.

Times count from navigation start. Largest Contentful Paint has four parts, which add up to it
(web.dev, "Optimize LCP"): Time To First Byte; resource load delay, until the browser begins to load
the picture that was the largest; resource load duration, until it has it; element render delay,
until it is presented. Text needs no resource: then the two in the middle are 0.

Cumulative Layout Shift is how much visible content jumped (Layout Instability, web.dev/cls). Total
Blocking Time is the sum, over the main thread's tasks above 50 ms, of what exceeds these 50 ms,
from First Contentful Paint on (web.dev/tbt). Lighthouse ends at Time to Interactive, which needs
five quiet seconds that a load does not wait for: here the end of the load ends it.

Interaction to Next Paint is that of the clicks and keys after the load (web.dev/inp).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.base.json_types import JsonMapping


def page_load_time(record: JsonMapping) -> float | None:
    """Return milliseconds from navigation start, from the browser; None if it did not happen."""
    value: float | None = record["navigation"]["page_load_time_ms"]
    return value


def dom_content_loaded(record: JsonMapping) -> float | None:
    """Return milliseconds from navigation start, from the browser; None if it did not happen."""
    value: float | None = record["navigation"]["dom_content_loaded_ms"]
    return value


def time_to_first_byte(record: JsonMapping) -> float | None:
    """Return milliseconds from navigation start, from the browser; None if it did not happen."""
    value: float | None = record["navigation"]["time_to_first_byte_ms"]
    return value


def first_contentful_paint(record: JsonMapping) -> float | None:
    """Return milliseconds from navigation start, from the browser; None if it did not happen."""
    value: float | None = record["navigation"]["first_contentful_paint_ms"]
    return value


def largest_contentful_paint(record: JsonMapping) -> float | None:
    """Return milliseconds from navigation start, from the browser; None if it did not happen."""
    value: float | None = record["navigation"]["largest_contentful_paint_ms"]
    return value


@dataclass(frozen=True, slots=True)
class PaintParts:
    """The four parts in ms, none below 0."""

    time_to_first_byte_ms: float
    resource_load_delay_ms: float
    resource_load_duration_ms: float
    element_render_delay_ms: float


def largest_contentful_paint_parts(record: JsonMapping) -> PaintParts | None:
    """Return the parts; None if nothing was painted, or if the image's load was not observed.

    As in Chrome's web-vitals library the load begins when the request is sent, so that DNS and
    connecting count as delay, and it ends with the paint at the latest: a video continues to load.
    """
    navigation = record["navigation"]
    paint_ms: float | None = navigation["largest_contentful_paint_ms"]
    byte_ms: float | None = navigation["time_to_first_byte_ms"]
    if paint_ms is None or byte_ms is None:
        return None
    first_byte_ms = min(byte_ms, paint_ms)
    loaded = _load_times(navigation["largest_contentful_paint_url"], record["objects"])
    if loaded is None:
        return None
    begin_ms, end_ms = (min(max(at_ms, first_byte_ms), paint_ms) for at_ms in loaded)
    return PaintParts(first_byte_ms, begin_ms - first_byte_ms, end_ms - begin_ms, paint_ms - end_ms)


def _load_times(url: str | None, objects: Sequence[JsonMapping]) -> tuple[float, float] | None:
    """Return when the load of `url` began and ended; zeros if there was no load to wait for."""
    if url is None or url.startswith("data:"):
        return 0.0, 0.0
    page_url = url.partition("#")[0]
    later = iter(objects)
    hop = next((each for each in later if each["url"] == page_url and not each["failed"]), None)
    if hop is None:
        return None
    begin_ms = hop["started_ms"] if hop["sending_ms"] is None else hop["sending_ms"]
    while _is_redirect(hop):
        # The next hop begins with the event that ends this one.
        end_ms = hop["finished_ms"]
        hop = next((each for each in later if each["started_ms"] == end_ms), None)
        if hop is None:
            return None
    end_ms = hop["finished_ms"]
    return begin_ms, float("inf") if end_ms is None else end_ms


def _is_redirect(item: JsonMapping) -> bool:
    return item["status"] is not None and 300 <= item["status"] < 400 and item["status"] != 304


def cumulative_layout_shift(record: JsonMapping) -> float | None:
    """Return the largest session of shifts, a score from 0; None if it was not reported."""
    value: float | None = record["navigation"]["cumulative_layout_shift"]
    return value


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


INTERACTIONS_PER_OUTLIER = 50
"""One interaction in so many is left out as an outlier: the value is about the 98th percentile."""


def interaction_to_next_paint(record: JsonMapping) -> float | None:
    """Return the duration of the longest interaction with the page, ms, less one for each 50; None
    if there was none.

    That is web-vitals' rule. A step that opens another page ends the interactions with this one.
    """
    durations: list[float] = []
    count = 0
    for step in record.get("after_load", ()):
        durations += [each["duration_ms"] for each in step.get("interactions", ())]
        count += step.get("interaction_count", 0)
    durations.sort(reverse=True)
    left_out = min(count // INTERACTIONS_PER_OUTLIER, len(durations) - 1)
    return durations[left_out] if durations else None
