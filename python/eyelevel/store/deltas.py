"""Encode images as lossless differences, from the last one backwards (pure).

The last image is stored elsewhere. Each earlier one is stored as the bounding box in which it
differs from the next one; in the box, unchanged pixels have one colour that no changed pixel has.
Backwards, because a page fills while it loads: areas that are not filled yet are mostly plain and
compress well. Each part is a lossless WebP.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from eyelevel.store.pixels import (
    HASTY_EFFORT,
    LESS_EFFORT,
    Picture,
    any_channel,
    decode_webp,
    encode_webp,
    unlike_colour,
)

HASTY_AFTER_PICTURES = 24.0
"""Changed area, in full images, after which encoding favours speed (a page with a video)."""

ENCODERS_MAX = 4
"""Maximum number of threads: a lab has two cores, and nothing is measured during encoding."""


@dataclass(frozen=True)
class Part:
    """A box of an image: its position in pixels, the colour of unchanged pixels, and a WebP."""

    top: int
    left: int
    unchanged: tuple[int, int, int]
    webp: bytes


def encode(pictures: Sequence[Picture]) -> list[Part]:
    """Encode one part for each image but the last, in order.

    All images have the same size, and neighbours differ.
    """
    if len(pictures) < 2:
        return []
    # The encoder releases the GIL; everything else here is cheap.
    with ThreadPoolExecutor(min(ENCODERS_MAX, len(pictures))) as encoders:
        return [encode() for encode in _begin_encoding(pictures, encoders)]


def _begin_encoding(pictures: Sequence[Picture], encoders: Executor) -> list[Callable[[], Part]]:
    """Start encoding; returns a function per image that waits for its part."""
    parts: list[Callable[[], Part]] = []
    known: dict[bytes, Callable[[], Part]] = {}
    changed_pictures = 0.0
    for after, picture in pairwise(reversed(pictures)):
        top, bottom, left, right = _box(after, picture)
        changed = picture[top:bottom, left:right].copy()
        changed_pictures += changed.size / picture.size
        effort = LESS_EFFORT if changed_pictures <= HASTY_AFTER_PICTURES else HASTY_EFFORT
        differs = any_channel(changed != after[top:bottom, left:right])
        unchanged = _unused_colour(changed, differs)
        for channel in range(3):
            np.copyto(changed[..., channel], unchanged[channel], where=~differs)
        # Animations repeat frames: equal boxes are encoded once.
        place = repr((top, left, changed.shape, unchanged)).encode()
        key = hashlib.sha256(place + changed.tobytes()).digest()
        if key not in known:
            known[key] = _part(top, left, unchanged, encoders.submit(encode_webp, changed, effort))
        parts.append(known[key])
    return parts[::-1]


def _part(
    top: int, left: int, unchanged: tuple[int, int, int], webp: "Future[bytes]"
) -> Callable[[], Part]:
    """Return a function that always returns the same `Part` object, to share memory."""
    return cache(lambda: Part(top, left, unchanged, webp.result()))


def decode(parts: Sequence[Part], last: Picture) -> Iterator[Picture]:
    """Yield the images in order; raises `OSError` or `ValueError` if a part is damaged."""
    picture = last.copy()
    # Going back, save the pixels that each part overwrites, and restore them going forward.
    forward: list[tuple[int, int, Picture]] = []
    for part in reversed(parts):
        box = decode_webp(part.webp)
        height, width, _ = box.shape
        there = picture[part.top : part.top + height, part.left : part.left + width]
        if there.shape != box.shape:
            raise ValueError("a part reaches beyond the picture")
        forward.append((part.top, part.left, there.copy()))
        changed = unlike_colour(box, part.unchanged)
        for channel in range(3):
            np.copyto(there[..., channel], box[..., channel], where=changed)
    yield picture.copy()
    for top, left, box in reversed(forward):
        height, width, _ = box.shape
        picture[top : top + height, left : left + width] = box
        yield picture.copy()


def _box(after: Picture, picture: Picture) -> tuple[int, int, int, int]:
    differs = any_channel(after != picture)
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if not len(rows):
        return 0, 1, 0, 1
    return int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1


def _unused_colour(picture: Picture, among: NDArray[np.bool_]) -> tuple[int, int, int]:
    """Return the first colour, from black on, that no pixel selected by `among` has."""
    red, green, blue = (picture[..., channel] for channel in range(3))
    for level in range(256):
        alike = among & (red == level)
        used = np.zeros((256, 256), dtype=bool)
        used[green[alike], blue[alike]] = True
        if not used.all():
            free = int(used.argmin())
            return level, free >> 8, free & 255
    raise ValueError("a picture of all colours that there are")
