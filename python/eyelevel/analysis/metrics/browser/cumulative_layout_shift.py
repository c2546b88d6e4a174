"""Cumulative Layout Shift: how much visible content moved (Layout Instability, web.dev/cls)."""

from __future__ import annotations

from eyelevel.base.json_types import JsonMapping


def cumulative_layout_shift(record: JsonMapping) -> float | None:
    """Return the largest session of shifts, a score from 0; None if it was not reported."""
    value: float | None = record["navigation"]["cumulative_layout_shift"]
    return value
