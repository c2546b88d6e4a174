"""Visually Complete: when visual progress first reaches 85, 95 or 99 percent."""

from __future__ import annotations

from eyelevel.analysis.metrics.visual.history import VisualHistory
from eyelevel.analysis.metrics.visual.visual_progress import progress_parts


def visual_complete(history: VisualHistory, percent: int) -> float | None:
    """Return milliseconds from navigation start; None if nothing ever changed.

    The first time counts even if progress falls again later, as in WebPageTest and Browsertime.
    """
    if not history.changed:
        return None
    done, whole = progress_parts(history.histograms)
    # Compared as integers: 85 of 100 pixels are 85 %, whatever the rounding of 0.85.
    reached = done * 100 >= percent * whole if whole else [False] * len(done)
    times = zip(history.at_ms, reached, strict=True)
    return next((at_ms for at_ms, is_reached in times if is_reached), history.at_ms[-1])
