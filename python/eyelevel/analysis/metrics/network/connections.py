"""Connections: how many the browser used for the page's objects."""

from __future__ import annotations

from eyelevel.analysis.metrics.network.objects import find_fetched_objects
from eyelevel.base.json_types import JsonMapping


def connection_count(record: JsonMapping) -> float | None:
    """Return a count; None if the browser does not number its connections."""
    numbers = {item["connection"] for item in find_fetched_objects(record)} - {None}
    return float(len(numbers)) if numbers else None
