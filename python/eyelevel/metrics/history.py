"""What all visual metrics share: the frames of a load, read once, one histogram a frame (pure).

A full-size frame is 2.8 MB, a load has hundreds: only their histograms are kept, and a small grey
picture of each for the indices that compare positions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

NEAR_WHITE_MIN = 250
"""A pixel with all three channels at this value or above is background and left out of histograms,
as WebPageTest and Browsertime do: else painting anything on white would count twice, once as less
white."""

BRIGHTNESS_WIDTH_PX = 320
"""About how wide the grey pictures are: whole blocks of pixels are averaged."""

Picture = NDArray[np.uint8]
"""height x width x 3, red, green, blue."""


@dataclass(frozen=True, slots=True)
class VisualHistory:
    """The kept pictures of a load: the first, and each that differs from the one before it."""

    at_ms: tuple[float, ...]
    """Display times from navigation start, ascending; the first is the start state's, 0."""
    histograms: NDArray[np.int64]
    """frames x 3 x 256: pixels of each channel and value, near-white pixels left out."""
    brightness: tuple[NDArray[np.uint8], ...]
    """The same frames in grey, each about `BRIGHTNESS_WIDTH_PX` wide."""

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
    brightness: list[NDArray[np.uint8]] = []
    before: Picture | None = None
    for time_ms, picture in frames:
        if before is not None:
            _check_sequence(at_ms[-1], before, time_ms, picture)
            if np.array_equal(before, picture):
                continue
        histograms.append(histogram(picture))
        at_ms.append(float(time_ms))
        brightness.append(small_brightness(picture))
        before = picture
    stacked = np.stack(histograms) if histograms else np.zeros((0, 3, 256), np.int64)
    return VisualHistory(tuple(at_ms), stacked, tuple(brightness))


def histogram(picture: Picture) -> NDArray[np.int64]:
    """3 x 256 pixel counts of a picture without its near-white pixels."""
    # numpy reduces an axis of three slowly.
    red, green, blue = (picture[..., channel] < NEAR_WHITE_MIN for channel in range(3))
    coloured = red | green | blue
    # Pillow counts in compiled code; numpy needs ten times as long.
    mask = Image.fromarray(np.where(coloured, np.uint8(255), np.uint8(0)))
    counts = Image.fromarray(picture).histogram(mask)
    return np.array(counts, np.int64).reshape(3, 256)


def small_brightness(picture: Picture) -> NDArray[np.uint8]:
    """Mean brightness (ITU-R BT.601 weights) of square blocks of pixels, within 1 of 255."""
    block = max(1, round(picture.shape[1] / BRIGHTNESS_WIDTH_PX))
    height, width = (length // block * block for length in picture.shape[:2])
    whole = Image.fromarray(picture).convert("L").crop((0, 0, width, height))
    return np.asarray(whole.reduce(block), np.uint8)


def _check_sequence(before_ms: float, before: Picture, at_ms: float, picture: Picture) -> None:
    if picture.shape != before.shape:
        raise ValueError(
            f"reading frames: one at {at_ms} ms is {picture.shape[1]}x{picture.shape[0]} "
            f"after {before.shape[1]}x{before.shape[0]}; keep the viewport fixed"
        )
    if at_ms < before_ms:
        raise ValueError(f"reading frames: {at_ms} ms after {before_ms} ms; sort them")
