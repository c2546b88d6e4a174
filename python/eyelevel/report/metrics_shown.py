"""The metrics that the report shows, their order and titles, and how a record gives them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from eyelevel.metrics import METRICS_BY_NAME, compute_metrics
from eyelevel.store import Frame

# Wolsing's five, and two of the page's own that say where a difference begins.
SHOWN = (
    "speed_index_ms",
    "first_visual_change_ms",
    "visual_complete_85_ms",
    "last_visual_change_ms",
    "page_load_time_ms",
    "first_contentful_paint_ms",
    "time_to_first_byte_ms",
)


def title_of(metric: str) -> str:
    """A metric's title; its name where the table has none."""
    return METRICS_BY_NAME[metric].title if metric in METRICS_BY_NAME else metric


def shown(primary_metric: str) -> list[str]:
    """The metrics of a report, the primary one first."""
    return [primary_metric, *(name for name in SHOWN if name != primary_metric)]


def metrics_of(record: Mapping[str, Any], frames: Sequence[Frame]) -> dict[str, float | None]:
    """Every metric of one load, from its raw record and frames."""
    return compute_metrics(_pictures(frames), record)


def _pictures(frames: Sequence[Frame]) -> Iterator[tuple[float, NDArray[Any]]]:
    """Decoded frames; one that repeats the bytes before it shows no change and is not decoded."""
    before = b""
    for frame in frames:
        if frame.png != before:
            before = frame.png
            yield frame.at_ms, frame.rgb()
