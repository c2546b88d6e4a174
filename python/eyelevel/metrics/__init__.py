"""Metrics: frames and a record in, numbers with units out; pure.

`METRICS` is the one table of them; it also writes `docs/reference/metrics.md`
(`python -m eyelevel.metrics.metrics_page`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from eyelevel.metrics.first_contentful_paint import first_contentful_paint
from eyelevel.metrics.first_visual_change import first_visual_change
from eyelevel.metrics.history import Picture, VisualHistory, visual_history
from eyelevel.metrics.largest_contentful_paint import largest_contentful_paint
from eyelevel.metrics.last_visual_change import last_visual_change
from eyelevel.metrics.page_load_time import page_load_time
from eyelevel.metrics.speed_index import speed_index
from eyelevel.metrics.time_to_first_byte import time_to_first_byte
from eyelevel.metrics.visual_complete import visual_complete
from eyelevel.metrics.visual_progress import visual_progress

__all__ = [
    "METRICS",
    "METRICS_BY_NAME",
    "Metric",
    "Picture",
    "VisualHistory",
    "compute_metrics",
    "metrics_of",
    "visual_history",
    "visual_progress",
]

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a load."""

    name: str
    """With its unit last: the key in records, tables, JSON and charts."""
    unit: str
    title: str
    definition: str
    source: str
    better: Literal["lower", "higher"]
    function: Callable[[VisualHistory, Record], float | None]


METRICS: tuple[Metric, ...] = (
    Metric(
        "page_load_time_ms",
        "ms",
        "Page Load Time",
        "Navigation start to the end of the main document's load event (`loadEventEnd`).",
        "Navigation Timing Level 2",
        "lower",
        lambda history, record: page_load_time(record),
    ),
    Metric(
        "first_visual_change_ms",
        "ms",
        "First Visual Change",
        "When any pixel of the viewport first differs from the start state.",
        "Wolsing 2019, section 3; Browsertime",
        "lower",
        lambda history, record: first_visual_change(history),
    ),
    Metric(
        "visual_complete_85_ms",
        "ms",
        "Visually Complete 85 %",
        "When visual progress first reaches 85 %.",
        "Wolsing 2019, section 3; Browsertime",
        "lower",
        lambda history, record: visual_complete(history, 85),
    ),
    Metric(
        "visual_complete_95_ms",
        "ms",
        "Visually Complete 95 %",
        "When visual progress first reaches 95 %.",
        "Browsertime",
        "lower",
        lambda history, record: visual_complete(history, 95),
    ),
    Metric(
        "visual_complete_99_ms",
        "ms",
        "Visually Complete 99 %",
        "When visual progress first reaches 99 %.",
        "Browsertime",
        "lower",
        lambda history, record: visual_complete(history, 99),
    ),
    Metric(
        "last_visual_change_ms",
        "ms",
        "Last Visual Change",
        "When any pixel of the viewport last changed before the load ended.",
        "Wolsing 2019, section 3; Browsertime",
        "lower",
        lambda history, record: last_visual_change(history),
    ),
    Metric(
        "speed_index_ms",
        "ms",
        "Speed Index",
        "Integral of (1 - visual progress) from navigation start to the last visual change.",
        "P. Meenan, WebPageTest, 2012",
        "lower",
        lambda history, record: speed_index(history),
    ),
    Metric(
        "time_to_first_byte_ms",
        "ms",
        "Time To First Byte",
        "Navigation start to the first byte of the main document's response (`responseStart`).",
        "Navigation Timing Level 2",
        "lower",
        lambda history, record: time_to_first_byte(record),
    ),
    Metric(
        "first_contentful_paint_ms",
        "ms",
        "First Contentful Paint",
        "When the first text or image was presented, from DevTools' lifecycle event (the page "
        "itself is given this time rounded to 4 ms).",
        "Paint Timing",
        "lower",
        lambda history, record: first_contentful_paint(record),
    ),
    Metric(
        "largest_contentful_paint_ms",
        "ms",
        "Largest Contentful Paint",
        "When the largest text or image was presented; rounded to 4 ms by Chromium.",
        "Largest Contentful Paint",
        "lower",
        lambda history, record: largest_contentful_paint(record),
    ),
)
"""Every metric, in the order of tables and reports."""

METRICS_BY_NAME: dict[str, Metric] = {metric.name: metric for metric in METRICS}


def compute_metrics(
    frames: Iterable[tuple[float, Picture]], record: Record
) -> dict[str, float | None]:
    """Every metric of one load by its name; None where what it measures did not happen.

    `frames` are `(at_ms, picture)` in order of time, the start state first; they are read once.
    """
    history = visual_history(frames)
    return {metric.name: metric.function(history, record) for metric in METRICS}


class StoredFrame(Protocol):
    """A frame as the store gives it back."""

    @property
    def at_ms(self) -> float:
        """Display time."""

    @property
    def picture(self) -> Picture:
        """The picture as an array."""


def metrics_of(record: Record, frames: Iterable[StoredFrame]) -> dict[str, float | None]:
    """Every metric of one stored load."""
    return compute_metrics(((frame.at_ms, frame.picture) for frame in frames), record)
