"""Frames of a loading page: an `npz` file of lossless pictures.

The file holds `at_ms` (float64, one a frame, from navigation start, ascending), `picture` (int64,
one a frame: which picture it shows) and the pictures' PNG bytes, joined in `png` (uint8) and cut at
`offset` (int64, one more than pictures). Frames that show the same bytes share one picture.
"""

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from eyelevel.store.errors import StoreError


@dataclass(frozen=True)
class Frame:
    """What was on the screen from `at_ms` (from navigation start) on, as PNG bytes."""

    at_ms: float
    png: bytes

    def rgb(self) -> NDArray[np.uint8]:
        """The picture as an array of height x width x 3; raises OSError when it is damaged."""
        with Image.open(io.BytesIO(self.png)) as picture:
            return np.asarray(picture.convert("RGB"))


def frames_to_bytes(frames: Sequence[Frame]) -> bytes:
    """The content of a frames file; the same frames give the same bytes."""
    pictures: dict[bytes, int] = {}
    picture = [pictures.setdefault(frame.png, len(pictures)) for frame in frames]
    buffer = io.BytesIO()
    np.savez(
        buffer,
        at_ms=np.array([frame.at_ms for frame in frames], dtype=np.float64),
        picture=np.array(picture, dtype=np.int64),
        png=np.frombuffer(b"".join(pictures), dtype=np.uint8),
        offset=np.cumsum([0, *(len(png) for png in pictures)], dtype=np.int64),
    )
    return buffer.getvalue()


def picture_indices(frames: Sequence[Frame]) -> list[int]:
    """For each frame the index of its picture in the file, as `record.json` lists it."""
    pictures: dict[bytes, int] = {}
    return [pictures.setdefault(frame.png, len(pictures)) for frame in frames]


def read_frames(path: Path) -> list[Frame]:
    """The frames of a file, in order; none where the file is absent (a load without capture)."""
    if not path.exists():
        return []
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            at_ms, picture = arrays["at_ms"], arrays["picture"]
            png, offset = arrays["png"].tobytes(), arrays["offset"]
        pictures = [png[start:end] for start, end in pairwise(offset)]
        if len(at_ms) != len(picture) or (len(offset) and offset[-1] != len(png)):
            raise ValueError("its parts do not fit together")
        if len(picture) and not 0 <= picture.min() <= picture.max() < len(pictures):
            raise ValueError("a frame names a picture that is not there")
        return [Frame(float(at), pictures[index]) for at, index in zip(at_ms, picture, strict=True)]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise StoreError(
            f"reading the frames of {path}: damaged ({error}); remove its directory and run the "
            "plan again with --resume"
        ) from error
