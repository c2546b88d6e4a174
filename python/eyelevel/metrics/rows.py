"""Maps of successive pictures, computed again only where a picture differs from the one before.

Most frames of a load change a few lines of text or one image, and a map's value depends on pixels
nearby alone, so a frame costs as many rows as it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from eyelevel.metrics.structural_similarity import Luma

MapOf = Callable[[Luma, slice], Luma]
"""The map of a band of rows; the slice says which rows of the whole picture they are."""


def changed_rows(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> slice | None:
    """The range of rows with a difference; None where there is none."""
    different = before != after
    rows = np.flatnonzero(different.reshape(len(different), -1).any(axis=1))
    return slice(int(rows[0]), int(rows[-1]) + 1) if len(rows) else None


def map_of_each(
    pictures: Iterable[NDArray[np.uint8]], map_of: MapOf, reach_pixels: int
) -> Iterator[Luma]:
    """The map of each picture, of its size; the one array is renewed in place.

    `reach_pixels`: how far a pixel has a say in the map.
    """
    before: NDArray[np.uint8] | None = None
    whole = np.zeros((0, 0))
    for picture in pictures:
        height = len(picture)
        if before is None:
            whole = map_of(picture.astype(np.float64), slice(0, height))
        elif (rows := changed_rows(before, picture)) is not None:
            first, last = max(rows.start - reach_pixels, 0), min(rows.stop + reach_pixels, height)
            # As much again, so that the band's own cut edges reach nothing that is kept.
            start, stop = max(first - reach_pixels, 0), min(last + reach_pixels, height)
            band = map_of(picture[start:stop].astype(np.float64), slice(start, stop))
            whole[first:last] = band[first - start : last - start]
        before = picture
        yield whole
