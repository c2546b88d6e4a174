"""Visual progress: how much of the way from the start state to the final picture is done.

Progress of a frame is the sum over all histogram bins of min(|now - first|, |final - first|) over
the sum of |final - first|. It compares colours, not positions: text that moves is not seen, and
colours that come and go count while they are there. (WebPageTest's progress from histograms.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eyelevel.analysis.metrics.visual.history import VisualHistory


def progress_parts(histograms: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Return each frame's done part and the whole, in pixel counts; exact, so that thresholds
    are."""
    away = np.abs(histograms - histograms[0])
    whole = away[-1]
    return np.minimum(away, whole).sum(axis=(1, 2)), int(whole.sum())


Progress = tuple[tuple[float, float], ...]
"""`(at_ms, share)`: from `at_ms` on the visual progress that is there, 0 to 1."""

STEP_MIN = 0.005
"""A step that is less than this away from the one kept before is not seen in a drawing."""

STEPS_MAX = 100
"""The most steps of one load's curve; a study has 150,000 loads."""


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


def thin_progress(history: VisualHistory) -> Progress:
    """Return the steps of visual progress that a curve needs, the first at 0; none if nothing
    changed.

    At most STEPS_MAX: the smallest are left out, so that no share is off by more than they are.
    """
    if not history.changed:
        return ()
    progress, least = visual_progress(history), STEP_MIN
    kept = _steps(progress, least)
    while len(kept) > STEPS_MAX:
        least *= 2
        kept = _steps(progress, least)
    return tuple(kept)


def _steps(progress: Sequence[tuple[float, float]], least: float) -> list[tuple[float, float]]:
    """Return the first, the last, and each that is `least` away from the one kept before it."""
    kept = list(progress[:1])
    for step in progress[1:-1]:
        if abs(step[1] - kept[-1][1]) >= least:
            kept.append(step)
    return [*kept, progress[-1]]
