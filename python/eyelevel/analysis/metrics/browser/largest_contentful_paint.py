"""Largest Contentful Paint: when the largest text or image was presented."""

from __future__ import annotations

from eyelevel.base.json_types import JsonMapping


def largest_contentful_paint(record: JsonMapping) -> float | None:
    """Return milliseconds from navigation start, from the browser; None if it did not happen."""
    value: float | None = record["navigation"]["largest_contentful_paint_ms"]
    return value
