"""Maps of successive pictures, computed again only where a picture differs from the one before.

Most frames of a load change a few lines of text or one image, and a map's value depends on pixels
nearby alone, so a frame costs as many pixels as the boxes that it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from eyelevel.metrics.changes import Box, changed_boxes

Luma = NDArray[np.float64]
"""height x width, 0 to 255."""

MapOf = Callable[[Luma, Box], Luma]
"""The map of a box; the slices say which pixels of the whole picture they are."""


def map_of_each(
    pictures: Iterable[NDArray[np.uint8]], map_of: MapOf, reach_pixels: int
) -> Iterator[Luma]:
    """The map of each picture, of its size; the one array is renewed in place.

    `reach_pixels`: how far a pixel has a say in the map.
    """
    before: NDArray[np.uint8] | None = None
    whole = np.zeros((0, 0))
    for picture in pictures:
        if before is None:
            height, width = picture.shape
            whole = map_of(picture.astype(np.float64), (slice(0, height), slice(0, width)))
        else:
            part_of = partial(_part, picture, map_of)
            for box in changed_boxes(before, picture, 2 * reach_pixels):
                renew(whole, box, reach_pixels, part_of)
        before = picture
        yield whole


def renew(whole: Luma, changed: Box, reach_pixels: int, map_of: Callable[[Box], Luma]) -> None:
    """Compute `whole` again as far as what changed has a say in it.

    Twice the reach is computed, so that the part's own cut edges reach nothing that is kept.
    """
    rows, own_rows, kept_rows = _around(changed[0], reach_pixels, whole.shape[0])
    columns, own_columns, kept_columns = _around(changed[1], reach_pixels, whole.shape[1])
    whole[own_rows, own_columns] = map_of((rows, columns))[kept_rows, kept_columns]


def _around(changed: slice, reach_pixels: int, length: int) -> tuple[slice, slice, slice]:
    """What is computed, what of the map it renews, and where in the computed part that is."""
    first, last = max(changed.start - reach_pixels, 0), min(changed.stop + reach_pixels, length)
    start, stop = max(first - reach_pixels, 0), min(last + reach_pixels, length)
    return slice(start, stop), slice(first, last), slice(first - start, last - start)


def _part(picture: NDArray[np.uint8], map_of: MapOf, box: Box) -> Luma:
    return map_of(picture[box].astype(np.float64), box)
