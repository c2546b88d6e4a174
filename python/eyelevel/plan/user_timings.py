"""User timings as metrics: `mark:NAME`, a page's own moment, and `measure:NAME`, a duration.

The names by which metrics may be asked for.
"""

import re
from collections.abc import Collection

from eyelevel.base.json_types import JsonMapping

UNIT = "_ms"
SHIFT_METRIC = "cumulative_layout_shift_score"
NO_PRIMARY_SHIFT = (
    f"`{SHIFT_METRIC}` decides no comparison, since most loads of most pages have 0; the report "
    "shows its difference beside any time, and a gate holds it below a score: "
    '`--fail-if "STACK.cls.p75 above 0.1"`'
)
"""Why layout shifts are no primary metric, and where they are compared."""
_TIMING = re.compile(r"(?:mark|measure):(?=.)")


def is_user_timing(metric: str) -> bool:
    """Return whether a metric is one that pages define themselves."""
    return _TIMING.match(metric) is not None


def with_unit(metric: str) -> str:
    """Return a user timing as tables have it, with its unit; any other metric as it is."""
    return metric if not is_user_timing(metric) or metric.endswith(UNIT) else f"{metric}{UNIT}"


def user_timings(record: JsonMapping) -> dict[str, float]:
    """Return the user timings of a load's record, in ms by metric."""
    navigation = record["navigation"] or {}
    return {f"{name}{UNIT}": float(ms) for name, ms in navigation.get("user_timings", {}).items()}


SHORT_NAMES = {
    "cls": SHIFT_METRIC,
    "fcp": "first_contentful_paint_ms",
    "inp": "interaction_to_next_paint_ms",
    "lcp": "largest_contentful_paint_ms",
    "plt": "page_load_time_ms",
    "si": "speed_index_ms",
    "tbt": "total_blocking_time_ms",
    "ttfb": "time_to_first_byte_ms",
}
"""The short names of metrics."""


def full_name(named: str, known: Collection[str]) -> str:
    """Return the metric that `named` stands for: a short name, or one without its unit.

    A name that stands for none of `known` is returned as it is.
    """
    named = SHORT_NAMES.get(named, named)
    if is_user_timing(named):
        return with_unit(named)
    units = (f"{named}{UNIT}", f"{named}_score")
    return named if named in known else next((name for name in units if name in known), named)


def with_short_names(metrics: Collection[str]) -> list[str]:
    """Return the metrics' short names, and then their own."""
    return [*(short for short, name in SHORT_NAMES.items() if name in metrics), *metrics]
