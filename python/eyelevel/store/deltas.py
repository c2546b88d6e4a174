"""Pictures as lossless differences, from the last one backwards (pure).

The last picture is kept whole, each earlier one as the box in which it differs from the one after
it; in the box, pixels that do not differ have one colour that none of the others has. Backwards,
because a page fills: what is not there yet is mostly plain, and costs little. Each part is a
lossless WebP.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Picture = NDArray[np.uint8]
"""height x width x 3, red, green, blue."""

EFFORT = {"method": 3, "quality": 50}
"""Of the encoder (docs/decisions/frame-capture.md)."""

HASTY_EFFORT = {"method": 0, "quality": 0}
HASTY_AFTER_PICTURES = 24.0
"""After so many whole pictures' worth of changes (a page with a video) speed counts: ten times
as fast, and twice as large."""


@dataclass(frozen=True)
class Part:
    """A box of a picture: its place in pixels, the colour of its unchanged pixels, a WebP."""

    top: int
    left: int
    unchanged: tuple[int, int, int]
    webp: bytes


def encode(pictures: Sequence[Picture]) -> list[Part]:
    """One part a picture, in the pictures' order; all of one size, each unlike its neighbours."""
    if not pictures:
        return []
    known: dict[bytes, Part] = {}
    parts = [Part(0, 0, (0, 0, 0), _webp(pictures[-1], EFFORT))]
    changed_pictures = 0.0
    for after, picture in pairwise(reversed(pictures)):
        top, bottom, left, right = _box(after, picture)
        changed = np.ascontiguousarray(picture[top:bottom, left:right])
        changed_pictures += changed.size / picture.size
        effort = EFFORT if changed_pictures <= HASTY_AFTER_PICTURES else HASTY_EFFORT
        same = (changed == after[top:bottom, left:right]).all(axis=2)
        unchanged = _unused_colour(changed[~same])
        changed[same] = unchanged
        # Animations repeat themselves: equal boxes are encoded once.
        key = bytes((*unchanged,)) + repr((top, left, changed.shape)).encode() + changed.tobytes()
        if key not in known:
            known[key] = Part(top, left, unchanged, _webp(changed, effort))
        parts.append(known[key])
    return parts[::-1]


def decode(parts: Sequence[Part]) -> Iterator[Picture]:
    """The pictures in their order; raises OSError or ValueError where a part is damaged."""
    if not parts:
        return
    picture = _pixels(parts[-1])
    # Going back, what each step covers is what going forward brings again.
    forward: list[tuple[int, int, Picture]] = []
    for part in reversed(parts[:-1]):
        box = _pixels(part)
        height, width, _ = box.shape
        there = picture[part.top : part.top + height, part.left : part.left + width]
        if there.shape != box.shape:
            raise ValueError("a part reaches beyond the picture")
        forward.append((part.top, part.left, there.copy()))
        # numpy reduces an axis of three slowly.
        red, green, blue = (box[..., each] != part.unchanged[each] for each in range(3))
        changed = red | green | blue
        for each in range(3):
            np.copyto(there[..., each], box[..., each], where=changed)
    yield picture.copy()
    for top, left, box in reversed(forward):
        height, width, _ = box.shape
        picture[top : top + height, left : left + width] = box
        yield picture.copy()


def _box(after: Picture, picture: Picture) -> tuple[int, int, int, int]:
    differs = (after != picture).any(axis=2)
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if not len(rows):
        return 0, 1, 0, 1
    return int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1


def _unused_colour(pixels: Picture) -> tuple[int, int, int]:
    """Black where no pixel is, else the first grey or other colour that none has."""
    packed = pixels.astype(np.uint32) @ np.array([65536, 256, 1], np.uint32)
    used = np.unique(packed)
    # Sorted and without repetition, so the first that is not its own rank is the first gap.
    gaps = np.flatnonzero(used != np.arange(len(used)))
    free = int(gaps[0]) if len(gaps) else len(used)
    return free >> 16, free >> 8 & 255, free & 255


def _webp(picture: Picture, effort: dict[str, int]) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "WEBP", lossless=True, **effort)
    return buffer.getvalue()


def _pixels(part: Part) -> Picture:
    with Image.open(io.BytesIO(part.webp)) as image:
        return np.array(image.convert("RGB"))
