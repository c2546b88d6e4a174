"""Time To First Byte: navigation start to the first byte of the main document's response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def time_to_first_byte(record: Mapping[str, Any]) -> float | None:
    """Milliseconds from navigation start, from the browser; None if it did not happen."""
    value: float | None = record["navigation"]["time_to_first_byte_ms"]
    return value
