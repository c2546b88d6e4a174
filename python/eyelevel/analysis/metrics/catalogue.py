"""The one table of all metrics; it also writes `docs/reference/metrics.md`.

Every metric of one load: frames and a record in, numbers out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from eyelevel.analysis.metrics.browser import (
    PaintParts,
    cumulative_layout_shift,
    dom_content_loaded,
    first_contentful_paint,
    interaction_to_next_paint,
    largest_contentful_paint,
    largest_contentful_paint_parts,
    page_load_time,
    time_to_first_byte,
    total_blocking_time,
)
from eyelevel.analysis.metrics.network import (
    cached_object_count,
    connection_count,
    handshake_count,
    http3_object_count,
    http3_received_bytes,
    object_count,
    received_bytes,
    revalidated_object_count,
)
from eyelevel.analysis.metrics.visual import (
    Picture,
    Progress,
    VisualHistory,
    contentful_speed_index,
    first_visual_change,
    last_visual_change,
    perceptual_speed_index,
    speed_index,
    thin_progress,
    visual_complete,
    visual_history,
)
from eyelevel.base.json_types import JsonMapping

Record = JsonMapping


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a load."""

    name: str
    """The key in records, tables, JSON and charts, with its unit last."""
    unit: str
    title: str
    definition: str
    source: str
    function: Callable[[VisualHistory, Record], float | None]


def _visual(
    name: str,
    title: str,
    definition: str,
    source: str,
    function: Callable[[VisualHistory], float | None],
) -> Metric:
    def compute(history: VisualHistory, _: Record) -> float | None:
        return function(history)

    return Metric(name, "ms", title, definition, source, compute)


def _from_record(
    name: str,
    title: str,
    definition: str,
    source: str,
    function: Callable[[Record], float | None],
) -> Metric:
    def compute(_: VisualHistory, record: Record) -> float | None:
        return function(record)

    return Metric(name, name.rpartition("_")[2], title, definition, source, compute)


def _complete(percent: int, source: str) -> Metric:
    return _visual(
        f"visual_complete_{percent}_ms",
        f"Visually Complete {percent} %",
        f"When visual progress first reaches {percent} %.",
        source,
        lambda history: visual_complete(history, percent),
    )


def _paint_part(
    name: str, title: str, definition: str, part: Callable[[PaintParts], float]
) -> Metric:
    def of_record(record: Record) -> float | None:
        parts = largest_contentful_paint_parts(record)
        return None if parts is None else part(parts)

    return _from_record(name, title, definition, "web.dev/optimize-lcp; web-vitals", of_record)


METRICS: tuple[Metric, ...] = (
    _from_record(
        "page_load_time_ms",
        "Page Load Time",
        "Navigation start to the end of the main document's load event (`loadEventEnd`).",
        "Navigation Timing Level 2",
        page_load_time,
    ),
    _visual(
        "first_visual_change_ms",
        "First Visual Change",
        "When any pixel of the viewport first differs from the start state.",
        "Wolsing 2019, section 3; Browsertime",
        first_visual_change,
    ),
    _complete(85, "Wolsing 2019, section 3; Browsertime"),
    _complete(95, "Browsertime"),
    _complete(99, "Browsertime"),
    _visual(
        "last_visual_change_ms",
        "Last Visual Change",
        "When any pixel of the viewport last changed before the load ended.",
        "Wolsing 2019, section 3; Browsertime",
        last_visual_change,
    ),
    _visual(
        "speed_index_ms",
        "Speed Index",
        "Integral of (1 - visual progress) from navigation start to the last visual change.",
        "P. Meenan, WebPageTest, 2012",
        speed_index,
    ),
    _visual(
        "perceptual_speed_index_ms",
        "Perceptual Speed Index",
        "First Visual Change, and from there the integral of (1 - structural similarity to the "
        "final picture).",
        "Gao, Dey, Ahammad 2017; Wang et al. 2004",
        perceptual_speed_index,
    ),
    _visual(
        "contentful_speed_index_ms",
        "Contentful Speed Index",
        "First Visual Change, and from there the integral of (1 - edges over the most edges that "
        "any picture has).",
        "Browsertime; Canny 1986",
        contentful_speed_index,
    ),
    _from_record(
        "time_to_first_byte_ms",
        "Time To First Byte",
        "Navigation start to the first byte of the main document's response (`responseStart`).",
        "Navigation Timing Level 2",
        time_to_first_byte,
    ),
    _from_record(
        "first_contentful_paint_ms",
        "First Contentful Paint",
        "When the first text or image was presented, from DevTools' lifecycle event (the page "
        "itself is given this time rounded to 4 ms).",
        "Paint Timing",
        first_contentful_paint,
    ),
    _from_record(
        "largest_contentful_paint_ms",
        "Largest Contentful Paint",
        "When the largest text or image was presented; rounded to 4 ms by Chromium. Which element "
        "it was is in the record.",
        "Largest Contentful Paint",
        largest_contentful_paint,
    ),
    _paint_part(
        "lcp_resource_load_delay_ms",
        "LCP Resource Load Delay",
        "From Time To First Byte to the request for the picture that was the largest; 0 for text. "
        "With Time To First Byte and the next two it adds up to Largest Contentful Paint.",
        lambda parts: parts.resource_load_delay_ms,
    ),
    _paint_part(
        "lcp_resource_load_duration_ms",
        "LCP Resource Load Duration",
        "From that request to the last byte of the picture; 0 for text.",
        lambda parts: parts.resource_load_duration_ms,
    ),
    _paint_part(
        "lcp_element_render_delay_ms",
        "LCP Element Render Delay",
        "From then on, or for text from Time To First Byte on, until it was presented.",
        lambda parts: parts.element_render_delay_ms,
    ),
    _from_record(
        "dom_content_loaded_ms",
        "DOMContentLoaded",
        "Navigation start to the end of the main document's DOMContentLoaded event "
        "(`domContentLoadedEventEnd`).",
        "Navigation Timing Level 2",
        dom_content_loaded,
    ),
    _from_record(
        "total_blocking_time_ms",
        "Total Blocking Time",
        "From First Contentful Paint to the end of the load, the time of the main thread's tasks "
        "beyond 50 ms each.",
        "Long Tasks; web.dev/tbt",
        total_blocking_time,
    ),
    _from_record(
        "cumulative_layout_shift_score",
        "Cumulative Layout Shift",
        "The largest sum of layout shifts that are less than 1 s apart and together at most 5 s "
        "long.",
        "Layout Instability; web.dev/cls",
        cumulative_layout_shift,
    ),
    _from_record(
        "interaction_to_next_paint_ms",
        "Interaction to Next Paint (8 ms steps)",
        "The longest of the clicks and keys of `after_load`, less one for each 50, from the input "
        "to the next frame after its handlers; rounded to 8 ms by the browser. Only loads with "
        "such a step have it.",
        "Event Timing; web.dev/inp; web-vitals",
        interaction_to_next_paint,
    ),
    _from_record(
        "received_bytes",
        "Received bytes",
        "Heads and coded bodies of the page's objects from the network, above TLS and transport.",
        "DevTools `encodedDataLength`",
        received_bytes,
    ),
    _from_record(
        "object_count",
        "Objects",
        "Answers from the network; each redirect is one.",
        "Das 2014, table 4.1",
        object_count,
    ),
    _from_record(
        "http3_object_count",
        "Objects over HTTP/3",
        "Those of them that came over HTTP/3.",
        "DevTools `protocol`",
        http3_object_count,
    ),
    _from_record(
        "http3_received_bytes",
        "Bytes over HTTP/3",
        "The received bytes of the objects that came over HTTP/3.",
        "DevTools `encodedDataLength`",
        http3_received_bytes,
    ),
    _from_record(
        "cached_object_count",
        "Objects from the cache",
        "Objects that the HTTP cache had and that no server was asked for.",
        "DevTools `fromDiskCache`",
        cached_object_count,
    ),
    _from_record(
        "revalidated_object_count",
        "Revalidated objects",
        "Requests that the servers answered with 304: what the cache had was still right.",
        "the lab's servers",
        revalidated_object_count,
    ),
    _from_record(
        "connection_count",
        "Connections",
        "Connections that the page's objects came over.",
        "DevTools `connectionId`",
        connection_count,
    ),
    _from_record(
        "handshake_count",
        "Handshakes",
        "TLS or QUIC handshakes that the servers completed, those of unused connections included.",
        "the lab's servers",
        handshake_count,
    ),
)
"""Every metric, in the order of tables and reports."""

METRICS_BY_NAME: dict[str, Metric] = {metric.name: metric for metric in METRICS}

PRIMARY_METRICS: tuple[str, ...] = tuple(metric.name for metric in METRICS if metric.unit == "ms")
"""The metrics that can be a study's primary one: times."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The results computed from one load: every metric by name, and its visual progress."""

    metrics: dict[str, float | None]
    progress: Progress = ()


def compute_metrics(
    frames: Iterable[tuple[float, Picture]], record: Record
) -> dict[str, float | None]:
    """Return every metric of one load by its name; None if its event did not happen.

    `frames` are `(at_ms, picture)` in order of time, the start state first; they are read once.
    """
    return _measure(frames, record).metrics


class StoredFrame(Protocol):
    """A frame as the store returns it."""

    @property
    def at_ms(self) -> float:
        """The display time, in ms."""

    @property
    def picture(self) -> Picture:
        """The image as an array."""


def measure(record: Record, frames: Iterable[StoredFrame]) -> Measured:
    """Return every metric of one stored load, and its progress; its frames are read once."""
    return _measure(((frame.at_ms, frame.picture) for frame in frames), record)


def metrics_of(record: Record, frames: Iterable[StoredFrame]) -> dict[str, float | None]:
    """Return every metric of one stored load."""
    return measure(record, frames).metrics


def _measure(frames: Iterable[tuple[float, Picture]], record: Record) -> Measured:
    history = visual_history(frames)
    metrics = {metric.name: metric.function(history, record) for metric in METRICS}
    return Measured(metrics, thin_progress(history))
