"""Frames of a loading page, stored as an `npz` file of lossless images (spec/run-record.md).

Encode images as lossless differences, from the last one backwards (pure).

The last image is stored elsewhere. Each earlier one is stored as the bounding box in which it
differs from the next one; in the box, unchanged pixels have one colour that no changed pixel has.
Backwards, because a page fills while it loads: areas that are not filled yet are mostly plain and
compress well. Each part is a lossless WebP.
"""

import hashlib
import io
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eyelevel.base.errors import StoreError
from eyelevel.base.from_outside.arrays import read_arrays
from eyelevel.base.from_outside.limits import FRAMES
from eyelevel.base.from_outside.pictures import open_picture
from eyelevel.base.from_outside.source import Source
from eyelevel.store.pictures import (
    HASTY_EFFORT,
    LESS_EFFORT,
    Picture,
    any_channel,
    decode_webp,
    encode_webp,
    mask_other_colours,
    picture_name,
    read_picture,
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
        unchanged = _find_unused_colour(changed, differs)
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
        changed = mask_other_colours(box, part.unchanged)
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


def _find_unused_colour(picture: Picture, among: NDArray[np.bool_]) -> tuple[int, int, int]:
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


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame of the page, displayed from `at_ms` after navigation start."""

    at_ms: float
    picture: Picture

    @classmethod
    def of_image(cls, at_ms: float, image: bytes) -> "Frame":
        """Decode a frame's image; raises `PictureError` if it is damaged."""
        return cls(at_ms, np.array(open_picture(image)))


class Frames:
    """The frames of one load, stored as differences; each iteration decodes them again.

    Memory is used for the last image and the changed areas only.
    """

    def __init__(
        self,
        at_ms: Sequence[float],
        parts: Sequence[Part],
        last: Callable[[], Picture],
        source: str = "",
        last_name: str = "",
    ) -> None:
        """Wrap encoded frames.

        `parts`: one for each frame but the last, whose image `last` returns; `last_name`: the name
        of that image, if it is known.
        """
        self.at_ms = tuple(at_ms)
        self._parts = parts
        self._last = last
        self._source = source or "frames in memory"
        self._last_name = last_name

    @classmethod
    def of(cls, frames: Sequence[Frame]) -> "Frames":
        """Encode `frames`, which have one size; of equal neighbours only the first is kept."""
        kept = list(frames[:1])
        for frame in frames[1:]:
            if not np.array_equal(frame.picture, kept[-1].picture):
                kept.append(frame)
        parts = encode([frame.picture for frame in kept])
        last = kept[-1].picture if kept else np.zeros((0, 0, 3), np.uint8)
        return cls([frame.at_ms for frame in kept], parts, lambda: last)

    def last(self) -> Picture:
        """Return the last frame's image; there must be frames. Raises `StoreError`."""
        return self._last()

    def __len__(self) -> int:
        return len(self.at_ms)

    def __iter__(self) -> Iterator[Frame]:
        """Yield the frames in order of time. Raises `StoreError` if an image is damaged."""
        if not self.at_ms:
            return
        try:
            pictures = decode(self._parts, self._last())
            for at_ms, picture in zip(self.at_ms, pictures, strict=True):
                yield Frame(at_ms, picture)
        except (OSError, ValueError) as error:
            raise _damage_error(self._source, error) from error

    def at(self, times_ms: Sequence[float]) -> list[Frame]:
        """Return the frame displayed at each time; equal frames are one object.

        Before the first frame it is the first one; there must be frames.
        """
        wanted = self._places(times_ms)
        there = {index: frame for index, frame in enumerate(self) if index in set(wanted)}
        return [there[index] for index in wanted]

    def sources_at(self, times_ms: Sequence[float]) -> list[str]:
        """Return a digest for the frame at each time, without decoding it.

        The digest covers the encoded data: equal digests mean equal images, across loads, too.
        """
        digest = hashlib.sha256((self._last_name or picture_name(self._last())).encode())
        sources = [digest.hexdigest()]
        for part in reversed(self._parts):
            place = (part.top, part.left, part.unchanged, len(part.webp))
            digest.update(repr(place).encode() + part.webp)
            sources.append(digest.hexdigest())
        return [sources[-1 - place] for place in self._places(times_ms)]

    def _places(self, times_ms: Sequence[float]) -> list[int]:
        return [max(0, bisect_right(self.at_ms, time_ms) - 1) for time_ms in times_ms]

    def to_bytes(self, last: str) -> bytes:
        """Return the content of a frames file; equal frames give equal bytes.

        `last` is the name of the last frame's image (`eyelevel.store.pictures`).
        """
        number = {part: index for index, part in enumerate(dict.fromkeys(self._parts))}
        buffer = io.BytesIO()
        np.savez(
            buffer,
            at_ms=np.array(self.at_ms, dtype=np.float64),
            part=np.array([number[part] for part in self._parts], dtype=np.int64),
            corner=np.array([[p.top, p.left] for p in number], dtype=np.int32).reshape(-1, 2),
            unchanged=np.array([p.unchanged for p in number], dtype=np.uint8).reshape(-1, 3),
            webp=np.frombuffer(b"".join(p.webp for p in number), dtype=np.uint8),
            offset=np.cumsum([0, *(len(p.webp) for p in number)], dtype=np.int64),
            last=np.frombuffer(last.encode("ascii"), dtype=np.uint8),
        )
        return buffer.getvalue()


_ARRAYS = {
    "at_ms": "<f8",
    "part": "<i8",
    "corner": "<i4",
    "unchanged": "|u1",
    "webp": "|u1",
    "offset": "<i8",
    "last": "|u1",
}
_NAME = re.compile(r"[0-9a-f]{20}")


def read_frames(path: Path, pictures: Path) -> Frames:
    """Read a frames file; returns empty frames if it is absent (a load without capture).

    `pictures`: the folder of the run's last images.
    """
    if not path.exists():
        return Frames.of([])
    arrays = read_arrays(path, _ARRAYS, Source(str(path), FRAMES, StoreError))
    try:
        at_ms, numbers = arrays["at_ms"].tolist(), arrays["part"].tolist()
        corners, colours = arrays["corner"], arrays["unchanged"]
        webp, offset = arrays["webp"].tobytes(), arrays["offset"].tolist()
        last = arrays["last"].tobytes().decode("ascii")
        if not _NAME.fullmatch(last):
            raise ValueError("its last picture has no name")
        if not all(math.isfinite(at) for at in at_ms) or sorted(at_ms) != at_ms:
            raise ValueError("its times do not ascend")
        if min(offset, default=0) < 0 or sorted(offset) != offset:
            raise ValueError("its parts do not fit together")
        cuts = [webp[start:end] for start, end in pairwise(offset)]
        parts = [
            Part(int(top), int(left), (int(red), int(green), int(blue)), cut)
            for (top, left), (red, green, blue), cut in zip(corners, colours, cuts, strict=True)
        ]
        if len(offset) and offset[-1] != len(webp):
            raise ValueError("its parts do not fit together")
        if numbers and not 0 <= min(numbers) <= max(numbers) < len(parts):
            raise ValueError("a frame names a picture that is not there")
        if len(at_ms) != len(numbers) + 1:
            raise ValueError("its parts do not fit together")
        parts_of_frames = [parts[number] for number in numbers]
        picture = partial(read_picture, pictures, last)
        return Frames(at_ms, parts_of_frames, picture, str(path), last)
    except (ValueError, TypeError) as error:
        raise _damage_error(str(path), error) from error


def name_of_last(content: bytes, file: str) -> str:
    """Return the name of the last image, from a frames file's content. Raises `StoreError`."""
    source = Source(file, FRAMES, StoreError)
    last = read_arrays(io.BytesIO(content), {"last": _ARRAYS["last"]}, source)["last"].tobytes()
    name = last.decode("ascii", errors="replace")
    if not _NAME.fullmatch(name):
        raise _damage_error(file, ValueError("its last picture has no name"))
    return name


def _damage_error(source: str, error: Exception) -> StoreError:
    return StoreError(
        f"reading the frames of {source}: damaged ({error}); remove its directory and run the "
        "plan again with --resume"
    )
