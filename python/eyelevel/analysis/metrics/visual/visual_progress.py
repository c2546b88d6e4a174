"""Visual progress: how much of the way from the start state to the final frame is done.

Progress of a frame is the sum over all histogram bins of min(|now - first|, |final - first|) over
the sum of |final - first|. It compares colours, not positions: moving text does not count, and
transient colours count while they are there. (WebPageTest's progress from histograms.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eyelevel.analysis.metrics.visual.history import VisualHistory


def progress_parts(histograms: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Return each frame's completed part and the total, in pixel counts.

    They are integers, so that thresholds are exact.
    """
    away = np.abs(histograms - histograms[0])
    whole = away[-1]
    return np.minimum(away, whole).sum(axis=(1, 2)), int(whole.sum())


Progress = tuple[tuple[float, float], ...]
"""Steps `(at_ms, share)`: the visual progress from `at_ms` on, 0 to 1."""

STEP_MIN = 0.005
"""The smallest step of a curve; smaller ones are invisible in a chart."""

STEPS_MAX = 100
"""The most steps of one load's curve; a study has 150,000 loads."""


def visual_progress(history: VisualHistory) -> list[tuple[float, float]]:
    """Return `(at_ms, share)` of each frame that counts, share from 0 to 1, not rounded.

    If the final frame's colours equal the start's (only near-white changed, or things moved),
    colours are no measure: progress is then 0 until the last change.
    """
    if not history.changed:
        return [(at_ms, 0.0) for at_ms in history.at_ms]
    done, whole = progress_parts(history.histograms)
    shares = done / whole if whole else np.zeros(len(done))
    shares[-1] = 1.0
    return [(at_ms, float(share)) for at_ms, share in zip(history.at_ms, shares, strict=True)]


def thin_progress(history: VisualHistory) -> Progress:
    """Return the steps of visual progress that a curve needs, the first at 0; empty without change.

    There are at most STEPS_MAX: the smallest are left out, so that no share is off by more than
    they are.
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
    """Return the first step, the last, and each that is `least` away from the previous one."""
    kept = list(progress[:1])
    for step in progress[1:-1]:
        if abs(step[1] - kept[-1][1]) >= least:
            kept.append(step)
    return [*kept, progress[-1]]
