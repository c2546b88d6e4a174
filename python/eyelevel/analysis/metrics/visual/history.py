"""Read a load's frames once for all visual metrics, with one histogram per frame (pure).

A full-size frame is 2.8 MB, and a load has hundreds: only their histograms stay in memory, and a
small grey image of each for the indices that compare positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from eyelevel.analysis.metrics.visual.boxes import Box, find_changed_boxes
from eyelevel.store.pixels import any_channel

NEAR_WHITE_MIN = 250
"""The least value of all three channels of a background pixel. Histograms leave these out, as in
WebPageTest and Browsertime: otherwise painting anything on white would count twice, once as less
white."""

BRIGHTNESS_WIDTH_PX = 320
"""The approximate width of the grey images: whole blocks of pixels are averaged."""

CHANGES_GAP_PX = 8
"""Changes that are closer share a box: another box costs as much as some hundred pixels."""

Picture = NDArray[np.uint8]
"""An image: height x width x 3, red, green, blue."""


@dataclass(frozen=True, slots=True)
class VisualHistory:
    """The frames of a load that count: the first, and each that differs from the one before it."""

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

    Any difference in any pixel counts: frames are lossless, nothing is masked. Raises `ValueError`
    for frames of different sizes or out of order.
    """
    at_ms: list[float] = []
    histograms: list[NDArray[np.int64]] = []
    brightness: list[NDArray[np.uint8]] = []
    before: Picture | None = None
    for time_ms, picture in frames:
        if before is None:
            histograms.append(histogram(picture))
            brightness.append(small_brightness(picture))
        else:
            _check_sequence(at_ms[-1], before, time_ms, picture)
            changed = find_changed_boxes(before, picture, CHANGES_GAP_PX)
            if not changed:
                continue
            histograms.append(_histogram_after(histograms[-1], before, picture, changed))
            brightness.append(_brightness_after(brightness[-1], picture, changed))
        at_ms.append(float(time_ms))
        before = picture
    stacked = np.stack(histograms) if histograms else np.zeros((0, 3, 256), np.int64)
    return VisualHistory(tuple(at_ms), stacked, tuple(brightness))


def _histogram_after(
    counts: NDArray[np.int64], before: Picture, picture: Picture, changed: Sequence[Box]
) -> NDArray[np.int64]:
    """Return the histogram of `picture`, counted only in the changed boxes if that is less work."""
    if 2 * sum(picture[box].size for box in changed) > picture.size:
        return histogram(picture)
    for box in changed:
        counts = counts - histogram(before[box]) + histogram(picture[box])
    return counts


def _brightness_after(
    small: NDArray[np.uint8], picture: Picture, changed: Sequence[Box]
) -> NDArray[np.uint8]:
    """Return the grey image, with only the changed blocks recomputed."""
    small, block = small.copy(), _block_px(picture)
    for box in changed:
        rows, columns = (slice(side.start // block, -(-side.stop // block)) for side in box)
        pixels = tuple(slice(side.start * block, side.stop * block) for side in (rows, columns))
        small[rows, columns] = _mean_of_blocks(picture[pixels], block)
    return small


def histogram(picture: Picture) -> NDArray[np.int64]:
    """Return 3 x 256 pixel counts of an image without its near-white pixels."""
    coloured = any_channel(picture < NEAR_WHITE_MIN)
    # Pillow counts in compiled code; numpy takes ten times as long.
    mask = Image.fromarray(coloured.view(np.uint8))
    counts = Image.fromarray(picture).histogram(mask)
    return np.array(counts, np.int64).reshape(3, 256)


def small_brightness(picture: Picture) -> NDArray[np.uint8]:
    """Return the mean brightness (ITU-R BT.601 weights) of square blocks, within 1 of 255."""
    return _mean_of_blocks(picture, _block_px(picture))


def _block_px(picture: Picture) -> int:
    width: int = picture.shape[1]
    return max(1, round(width / BRIGHTNESS_WIDTH_PX))


def _mean_of_blocks(picture: Picture, block: int) -> NDArray[np.uint8]:
    """Return the mean of each whole block; remainders at the right and below are ignored."""
    height, width = (length // block * block for length in picture.shape[:2])
    whole = np.ascontiguousarray(picture[:height, :width])
    return np.asarray(Image.fromarray(whole).convert("L").reduce(block), np.uint8)


def _check_sequence(before_ms: float, before: Picture, at_ms: float, picture: Picture) -> None:
    if picture.shape != before.shape:
        raise ValueError(
            f"reading frames: one at {at_ms} ms is {picture.shape[1]}x{picture.shape[0]} "
            f"after {before.shape[1]}x{before.shape[0]}; keep the viewport fixed"
        )
    if at_ms < before_ms:
        raise ValueError(f"reading frames: {at_ms} ms after {before_ms} ms; sort them")
