"""Largest Contentful Paint in its four parts, which add up to it (web.dev, "Optimize LCP").

Time To First Byte; resource load delay, until the browser begins to load the largest image;
resource load duration, until it is loaded; element render delay, until it is presented. Text needs
no resource: the two in the middle are then 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.base.json_types import JsonMapping


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
    asked = url.partition("#")[0]
    later = iter(objects)
    hop = next((each for each in later if each["url"] == asked and not each["failed"]), None)
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
