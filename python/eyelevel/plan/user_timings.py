"""User timings as metrics: `mark:NAME`, a page's own moment, and `measure:NAME`, a duration."""

import re

from eyelevel.base.json_types import JsonMapping

UNIT = "_ms"
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
