"""First Visual Change: when anything on the screen first differs from the start state."""

from __future__ import annotations

from eyelevel.analysis.metrics.visual.history import VisualHistory


def first_visual_change(history: VisualHistory) -> float | None:
    """Return milliseconds from navigation start; None if nothing ever changed."""
    return history.at_ms[1] if history.changed else None
