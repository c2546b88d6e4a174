"""The metrics that the report shows, their order and titles."""

from eyelevel.metrics import METRICS_BY_NAME

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
