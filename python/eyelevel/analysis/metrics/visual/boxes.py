"""Find where two images differ, as boxes, and recompute maps of images only there.

Most frames of a load change a few lines of text or one image, and a map's values depend on nearby
pixels only, so that a frame costs no more pixels than the boxes that it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Box = tuple[slice, slice]
"""The rows and columns of a part of an image."""

BOXES_MAX = 4
"""The most boxes; more cost more than one box around all of them."""

Luma = NDArray[np.float64]
"""Brightness: height x width, 0 to 255."""

MapOf = Callable[[Luma, Box], Luma]
"""A function that returns the map of a part; the box is its position in the image."""


def find_changed_boxes(
    before: NDArray[np.generic], after: NDArray[np.generic], gap: int
) -> list[Box]:
    """Return boxes that contain every difference of two images of one size.

    They are grey or have three colours. Differences at most `gap` pixels apart share a box.
    """
    height, width, *colours = before.shape
    depth = colours[0] if colours else 1
    different = before.reshape(height, width * depth) != after.reshape(height, width * depth)
    boxes = [
        (rows, columns)
        for rows in _runs(different.any(axis=1), gap, 1)
        for columns in _runs(different[rows].any(axis=0), gap, depth)
    ]
    return boxes if len(boxes) <= BOXES_MAX else [_bounding(boxes)]


def map_of_each(
    pictures: Iterable[NDArray[np.uint8]], map_of: MapOf, reach_pixels: int
) -> Iterator[Luma]:
    """Yield the map of each image, of its size; one array is updated in place.

    `reach_pixels` is how far away a pixel still influences the map.
    """
    before: NDArray[np.uint8] | None = None
    whole = np.zeros((0, 0))
    for picture in pictures:
        if before is None:
            height, width = picture.shape
            whole = map_of(picture.astype(np.float64), (slice(0, height), slice(0, width)))
        else:
            part_of = partial(_part, picture, map_of)
            for box in find_changed_boxes(before, picture, 2 * reach_pixels):
                renew(whole, box, reach_pixels, part_of)
        before = picture
        yield whole


def renew(whole: Luma, changed: Box, reach_pixels: int, map_of: Callable[[Box], Luma]) -> None:
    """Recompute `whole` where the changed box influences it.

    Twice the reach is computed, so that the cut edges of the part do not affect the result.
    """
    rows, renewed_rows, kept_rows = _around(changed[0], reach_pixels, whole.shape[0])
    columns, renewed_columns, kept_columns = _around(changed[1], reach_pixels, whole.shape[1])
    whole[renewed_rows, renewed_columns] = map_of((rows, columns))[kept_rows, kept_columns]


def _runs(different: NDArray[np.bool_], gap: int, depth: int) -> list[slice]:
    """Return the ranges of true values; `depth` neighbours are one position."""
    places = np.flatnonzero(different) // depth
    if not len(places):
        return []
    cuts = np.flatnonzero(np.diff(places) > gap + 1) + 1
    return [
        slice(int(places[first]), int(places[last - 1]) + 1)
        for first, last in pairwise((0, *cuts.tolist(), len(places)))
    ]


def _bounding(boxes: list[Box]) -> Box:
    ends = [
        slice(min(box[axis].start for box in boxes), max(box[axis].stop for box in boxes))
        for axis in (0, 1)
    ]
    return ends[0], ends[1]


def _around(changed: slice, reach_pixels: int, length: int) -> tuple[slice, slice, slice]:
    """Return three slices for one dimension.

    They are what to compute, which part of the map to replace, and where in the computed part that
    is.
    """
    first, last = max(changed.start - reach_pixels, 0), min(changed.stop + reach_pixels, length)
    start, stop = max(first - reach_pixels, 0), min(last + reach_pixels, length)
    return slice(start, stop), slice(first, last), slice(first - start, last - start)


def _part(picture: NDArray[np.uint8], map_of: MapOf, box: Box) -> Luma:
    return map_of(picture[box].astype(np.float64), box)
