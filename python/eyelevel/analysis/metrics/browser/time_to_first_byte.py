"""Time To First Byte: navigation start to the first byte of the main document's response."""

from __future__ import annotations

from eyelevel.base.json_types import JsonMapping


def time_to_first_byte(record: JsonMapping) -> float | None:
    """Return milliseconds from navigation start, from the browser; None if it did not happen."""
    value: float | None = record["navigation"]["time_to_first_byte_ms"]
    return value
