"""Largest Contentful Paint: when the largest text or image was presented."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def largest_contentful_paint(record: Mapping[str, Any]) -> float | None:
    """Milliseconds from navigation start, from the browser; None if it did not happen."""
    value: float | None = record["navigation"]["largest_contentful_paint_ms"]
    return value
