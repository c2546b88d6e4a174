"""Compute the numbers of a step after the load from one entry of a record's `after_load`.

A step's time zero is the moment its input was sent. The definitions are those of a load's metrics,
over the objects and frames from then on.
"""

from __future__ import annotations

from collections.abc import Iterable

from eyelevel.analysis.metrics.network import find_fetched_objects, received_bytes
from eyelevel.analysis.metrics.visual import (
    Picture,
    first_visual_change,
    last_visual_change,
    speed_index,
    visual_history,
)
from eyelevel.base.json_types import JsonMapping

STEP_METRICS: dict[str, str] = {
    "duration_ms": (
        "to the last of: an object's end, a visual change, the next page's load event, its first "
        "paint"
    ),
    "first_response_ms": "to the first byte of the first response, of the network's objects",
    "load_event_ms": "to the load event of the page that the step opened",
    "first_contentful_paint_ms": "to the first text or image of the page that the step opened",
    "first_visual_change_ms": "when any pixel first differs from what was there",
    "last_visual_change_ms": "when any pixel last changed",
    "speed_index_ms": "integral of (1 - visual progress) to the last visual change",
    "received_bytes": "heads and coded bodies of the step's objects from the network",
    "object_count": "answers from the network",
}
"""The names and meanings, in the order of tables and of the reference page."""


def step_metrics(
    step: JsonMapping, frames: Iterable[tuple[float, Picture]]
) -> dict[str, float | None]:
    """Return `STEP_METRICS` of one step; each is None if its event did not happen.

    `frames`: `(at_ms, picture)` on the record's clock, the first from the start of the step.
    """
    if step["failed"]:
        return dict.fromkeys(STEP_METRICS)
    start_ms = step["started_ms"]

    def since_start(at_ms: float | None) -> float | None:
        return None if at_ms is None else round(at_ms - start_ms, 3)

    history = visual_history((max(at_ms - start_ms, 0.0), picture) for at_ms, picture in frames)
    # Requests made while an element was scrolled into view are not caused by the step.
    since = [item for item in step["objects"] if item["started_ms"] >= start_ms]
    step = {**step, "objects": since}
    objects = find_fetched_objects(step)
    ends_ms = [item["finished_ms"] for item in objects if item["finished_ms"] is not None]
    responses_ms = [item["response_ms"] for item in objects if item["response_ms"] is not None]
    last_change_ms = last_visual_change(history)
    opened_ms = (step["load_event_ms"], step["first_contentful_paint_ms"])
    ends = [since_start(at_ms) for at_ms in (*ends_ms, *opened_ms)] + [last_change_ms]
    return {
        "duration_ms": max((end_ms for end_ms in ends if end_ms is not None), default=None),
        "first_response_ms": since_start(min(responses_ms, default=None)),
        "load_event_ms": since_start(step["load_event_ms"]),
        "first_contentful_paint_ms": since_start(step["first_contentful_paint_ms"]),
        "first_visual_change_ms": first_visual_change(history),
        "last_visual_change_ms": last_change_ms,
        "speed_index_ms": speed_index(history),
        "received_bytes": received_bytes(step),
        "object_count": float(len(objects)),
    }
