"""Visual progress: how much of the way from the start state to the final picture is done.

Progress of a frame is the sum over all histogram bins of min(|now - first|, |final - first|) over
the sum of |final - first|. It compares colours, not positions: text that moves is not seen, and
colours that come and go count while they are there. (WebPageTest's progress from histograms.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eyelevel.metrics.history import VisualHistory


def progress_parts(histograms: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Each frame's done part and the whole, in pixel counts; exact, so that thresholds are."""
    away = np.abs(histograms - histograms[0])
    whole = away[-1]
    return np.minimum(away, whole).sum(axis=(1, 2)), int(whole.sum())


def visual_progress(history: VisualHistory) -> list[tuple[float, float]]:
    """`(at_ms, share)` of each kept frame, share from 0 to 1, not rounded.

    If the final picture's colours equal the start's (only near-white changed, or things moved),
    colours cannot say how far it was: then progress is 0 until the last change.
    """
    if not history.changed:
        return [(at_ms, 0.0) for at_ms in history.at_ms]
    done, whole = progress_parts(history.histograms)
    shares = done / whole if whole else np.zeros(len(done))
    shares[-1] = 1.0
    return [(at_ms, float(share)) for at_ms, share in zip(history.at_ms, shares, strict=True)]
