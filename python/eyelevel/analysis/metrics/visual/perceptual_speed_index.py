"""Perceptual Speed Index: the Speed Index with structural similarity instead of histograms.

All of the time up to First Visual Change, then the integral of (1 - similarity to the final frame);
unlike histograms it depends on positions. (Gao, Dey, Ahammad: Perceived Performance of Top Retail
Webpages, 2017; weighed as in Browsertime.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eyelevel.analysis.metrics.visual.boxes import map_of_each
from eyelevel.analysis.metrics.visual.history import VisualHistory
from eyelevel.analysis.metrics.visual.speed_index import missing_area
from eyelevel.analysis.metrics.visual.structural_similarity import REACH_PIXELS, similarity_to


def perceptual_speed_index(history: VisualHistory) -> float | None:
    """Return milliseconds; None if nothing ever changed."""
    if not history.changed:
        return None
    similarity = similarity_to(history.brightness[-1].astype(np.float64))
    maps = map_of_each(history.brightness[1:], similarity, REACH_PIXELS)
    return index_from_first_change(
        history.at_ms[1:], [float(np.mean(similarities)) for similarities in maps]
    )


def index_from_first_change(at_ms: Sequence[float], shares: Sequence[float]) -> float:
    """Return the whole time up to the first change, then the integral of the missing share.

    `at_ms` are the times of the changes, from navigation start, `shares` those reached at each.
    """
    return at_ms[0] + missing_area(list(zip(at_ms, shares, strict=True)))
