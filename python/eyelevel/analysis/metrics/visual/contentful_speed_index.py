"""Contentful Speed Index: the Speed Index with the share of edges instead of histograms.

All of the time up to First Visual Change, then the integral of (1 - edges of the frame over the
most edges of any frame): text and images count, backgrounds do not. (WebPageTest and Browsertime,
after B. Schloss's visualmetrics.)
"""

from __future__ import annotations

from collections.abc import Sequence

from eyelevel.analysis.metrics.visual.boxes import Box, Luma, map_of_each
from eyelevel.analysis.metrics.visual.edges import REACH_PIXELS, connect_edges, thin_gradient
from eyelevel.analysis.metrics.visual.history import VisualHistory
from eyelevel.analysis.metrics.visual.perceptual_speed_index import index_from_first_change


def contentful_speed_index(history: VisualHistory) -> float | None:
    """Return milliseconds; None if nothing ever changed."""
    if not history.changed:
        return None

    def gradient(picture: Luma, _: Box) -> Luma:
        return thin_gradient(picture)

    maps = map_of_each(history.brightness[1:], gradient, REACH_PIXELS)
    counts = [int(connect_edges(gradients).sum()) for gradients in maps]
    return index_from_first_change(history.at_ms[1:], shares_of_most(counts))


def shares_of_most(counts: Sequence[int]) -> list[float]:
    """Return each count over the largest one; 1 if no frame has an edge."""
    most = max(counts)
    return [count / most if most else 1.0 for count in counts]
