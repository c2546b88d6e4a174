"""Where two pictures differ, as boxes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Box = tuple[slice, slice]
"""Rows and columns of a picture."""

BOXES_MAX = 4
"""Beyond so many one box around all of them costs less than they do."""


def changed_boxes(before: NDArray[np.generic], after: NDArray[np.generic], gap: int) -> list[Box]:
    """Boxes that hold every difference of two pictures of one size, grey or of three colours.

    What is at most `gap` pixels apart is in one box.
    """
    height, width, *colours = before.shape
    depth = colours[0] if colours else 1
    different = before.reshape(height, width * depth) != after.reshape(height, width * depth)
    boxes = [
        (rows, columns)
        for rows in _runs(different.any(axis=1), gap, 1)
        for columns in _runs(different[rows].any(axis=0), gap, depth)
    ]
    return boxes if len(boxes) <= BOXES_MAX else [_around(boxes)]


def _runs(true: NDArray[np.bool_], gap: int, depth: int) -> list[slice]:
    """The ranges of true values; `depth` neighbours are one place."""
    places = np.flatnonzero(true) // depth
    if not len(places):
        return []
    cuts = np.flatnonzero(np.diff(places) > gap + 1) + 1
    return [
        slice(int(places[first]), int(places[last - 1]) + 1)
        for first, last in pairwise((0, *cuts.tolist(), len(places)))
    ]


def _around(boxes: list[Box]) -> Box:
    ends = [
        slice(min(box[axis].start for box in boxes), max(box[axis].stop for box in boxes))
        for axis in (0, 1)
    ]
    return ends[0], ends[1]
