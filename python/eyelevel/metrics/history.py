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
        if before is not None:
            if picture.shape != before.shape:
                raise ValueError(
                    f"reading frames: one at {time_ms} ms is {picture.shape[1]}x{picture.shape[0]} "
                    f"after {before.shape[1]}x{before.shape[0]}; keep the viewport fixed"
                )
            if time_ms < at_ms[-1]:
                raise ValueError(f"reading frames: {time_ms} ms after {at_ms[-1]} ms; sort them")
            if np.array_equal(picture, before):
                continue
        at_ms.append(float(time_ms))
        histograms.append(histogram(picture))
        before = picture
    stacked = np.stack(histograms) if histograms else np.zeros((0, 3, 256), np.int64)
    return VisualHistory(tuple(at_ms), stacked)


def histogram(picture: Picture) -> NDArray[np.int64]:
    """3 x 256 pixel counts of a picture without its near-white pixels."""
    counted = picture[~(picture >= NEAR_WHITE_MIN).all(axis=2)]
    return np.stack([np.bincount(counted[:, channel], minlength=256) for channel in range(3)])
