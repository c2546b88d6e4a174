"""First Contentful Paint: when the first text or image was presented."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def first_contentful_paint(record: Mapping[str, Any]) -> float | None:
    """Milliseconds from navigation start, from the browser; None if it did not happen."""
    value: float | None = record["navigation"]["first_contentful_paint_ms"]
    return value
