"""Speed Index: the mean time at which the visible parts of a page appear.

The integral of (1 - visual progress) over time from navigation start to the last visual change
(P. Meenan, WebPageTest, 2012).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from eyelevel.analysis.metrics.visual.history import VisualHistory
from eyelevel.analysis.metrics.visual.visual_progress import visual_progress


def speed_index(history: VisualHistory) -> float | None:
    """Return milliseconds; None if nothing ever changed."""
    return missing_area(visual_progress(history)) if history.changed else None


def missing_area(progress: Sequence[tuple[float, float]]) -> float:
    """Return the integral of (1 - share) over `(at_ms, share)` steps, first to last."""
    area_ms = 0.0
    for (from_ms, share), (to_ms, _) in pairwise(progress):
        area_ms += (to_ms - from_ms) * (1.0 - share)
    return area_ms
