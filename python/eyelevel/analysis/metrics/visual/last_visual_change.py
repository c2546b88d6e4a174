"""Last Visual Change: when the screen last changed before the load ended."""

from __future__ import annotations

from eyelevel.analysis.metrics.visual.history import VisualHistory


def last_visual_change(history: VisualHistory) -> float | None:
    """Return milliseconds from navigation start; None if nothing ever changed."""
    return history.at_ms[-1] if history.changed else None
