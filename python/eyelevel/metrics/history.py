"""What all visual metrics share: the frames of a load, read once, one histogram a frame (pure).

A full-size frame is 2.8 MB, a load has hundreds: only their histograms are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NEAR_WHITE_MIN = 250
"""A pixel with all three channels at this value or above is background and left out of histograms,
as WebPageTest and Browsertime do: else painting anything on white would count twice, once as less
white."""

Picture = NDArray[np.uint8]
"""height x width x 3, red, green, blue."""


@dataclass(frozen=True, slots=True)
class VisualHistory:
    """The kept pictures of a load: the first, and each that differs from the one before it."""

    at_ms: tuple[float, ...]
    """Display times from navigation start, ascending; the first is the start state's, 0."""
    histograms: NDArray[np.int64]
    """frames x 3 x 256: pixels of each channel and value, near-white pixels left out."""

    @property
    def changed(self) -> bool:
        """Whether anything was ever painted."""
        return len(self.at_ms) > 1


def visual_history(frames: Iterable[tuple[float, Picture]]) -> VisualHistory:
    """Read frames `(at_ms, picture)` in order of time; all of one size, the start state first.

    Any difference in any pixel counts: frames are lossless, nothing is masked.
    Raises `ValueError` for frames of different sizes or out of order.
    """
    at_ms: list[float] = []
    histograms: list[NDArray[np.int64]] = []
    before: Picture | None = None
    for time_ms, picture in frames:
        if before is None:
            histograms.append(histogram(picture))
        else:
            _check_sequence(at_ms[-1], before, time_ms, picture)
            rows = _changed_rows(before, picture)
            if rows is None:
                continue
            # Most frames change a part: only that part's pixels are counted again.
            away, there = histogram(before[rows]), histogram(picture[rows])
            histograms.append(histograms[-1] - away + there)
        at_ms.append(float(time_ms))
        before = picture
    stacked = np.stack(histograms) if histograms else np.zeros((0, 3, 256), np.int64)
    return VisualHistory(tuple(at_ms), stacked)


def histogram(picture: Picture) -> NDArray[np.int64]:
    """3 x 256 pixel counts of a picture without its near-white pixels."""
    counted = picture[~(picture >= NEAR_WHITE_MIN).all(axis=2)]
    return np.stack([np.bincount(counted[:, channel], minlength=256) for channel in range(3)])


def _changed_rows(before: Picture, picture: Picture) -> slice | None:
    """The range of rows with a difference; None where there is none."""
    rows = np.flatnonzero((before != picture).any(axis=(1, 2)))
    return slice(int(rows[0]), int(rows[-1]) + 1) if len(rows) else None


def _check_sequence(before_ms: float, before: Picture, at_ms: float, picture: Picture) -> None:
    if picture.shape != before.shape:
        raise ValueError(
            f"reading frames: one at {at_ms} ms is {picture.shape[1]}x{picture.shape[0]} "
            f"after {before.shape[1]}x{before.shape[0]}; keep the viewport fixed"
        )
    if at_ms < before_ms:
        raise ValueError(f"reading frames: {at_ms} ms after {before_ms} ms; sort them")
