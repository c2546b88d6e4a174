"""Images of last frames, one file each, in a folder that all loads of a run share.

Most loads of a site end with the same image, to the pixel, whatever the network and stack. It is
most of the size of a load's frames, and of the time to encode them. So it is stored once per run,
under a name derived from its pixels, however many loads refer to it.

Images as arrays: tests on their pixels, and lossless WebP.
"""

import hashlib
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from eyelevel.base.errors import StoreError
from eyelevel.base.from_outside.files import read_bytes
from eyelevel.base.from_outside.limits import PICTURE
from eyelevel.base.from_outside.pictures import open_picture
from eyelevel.base.from_outside.source import Source
from eyelevel.store.disk import write_whole

Picture = NDArray[np.uint8]
"""An image: height x width x 3, in red, green, blue."""

EFFORT = {"method": 3, "quality": 50}
"""Default settings of the encoder (docs/decisions/0007-frame-capture.md)."""

LESS_EFFORT = {"method": 2, "quality": 50}
"""Settings that take a quarter less time; boxes become no larger, full images by 3 %."""

HASTY_EFFORT = {"method": 0, "quality": 0}
"""Settings that are ten times as fast, with files twice as large."""


def encode_webp(picture: Picture, effort: dict[str, int]) -> bytes:
    """Encode an image as lossless WebP."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "WEBP", lossless=True, **effort)
    return buffer.getvalue()


def decode_webp(webp: bytes) -> Picture:
    """Decode a WebP image. Raises `ValueError` if it is damaged."""
    return np.array(open_picture(webp))


def any_channel(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Reduce flags per channel (height x width x 3) to flags per pixel (height x width) by "or"."""
    height, width, _ = flags.shape
    flat = np.ascontiguousarray(flags).reshape(-1)
    some = flat[:-2] | flat[1:-1]
    some |= flat[2:]
    return some[::3].copy().reshape(height, width)


def mask_other_colours(
    picture: NDArray[np.uint8], colour: tuple[int, int, int]
) -> NDArray[np.bool_]:
    """Return a mask, height x width, of the pixels with another colour."""
    height, width, _ = picture.shape
    row = np.tile(np.array(colour, np.uint8), width)
    return any_channel((picture.reshape(height, -1) != row).reshape(picture.shape))


PICTURES = "pictures"

_NAME_DIGITS = 20


def picture_name(picture: Picture) -> str:
    """Return an image's name: a digest of its size and pixels."""
    size = "x".join(map(str, picture.shape)).encode()
    return hashlib.sha256(size + b":" + picture.tobytes()).hexdigest()[:_NAME_DIGITS]


def pack_picture(picture: Picture) -> bytes:
    """Return the content of an image's file."""
    return encode_webp(picture, EFFORT)


def has_picture(folder: Path, name: str) -> bool:
    """Return whether `folder` has the image, undamaged."""
    try:
        _read(folder, name)
    except (OSError, ValueError):
        return False
    return True


def keep_picture(folder: Path, name: str, content: bytes) -> None:
    """Store an image in `folder` atomically. Raises `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(picture_file(folder, name), content)


def is_picture(content: bytes, name: str) -> bool:
    """Return whether `content` is the file of the image of this name."""
    try:
        return picture_name(decode_webp(content)) == name
    except ValueError:
        return False


def read_picture(folder: Path, name: str) -> Picture:
    """Read an image. Raises `StoreError` if it is absent or does not match its name."""
    try:
        return _read(folder, name)
    except (OSError, ValueError) as error:
        file = picture_file(folder, name)
        raise StoreError(
            f"reading {file}, the last picture of loads of this run: {error}; "
            "copy it from where the run was copied from, or run the plan again elsewhere (a load "
            "that ends with this picture writes it)"
        ) from error


def _read(folder: Path, name: str) -> Picture:
    file = picture_file(folder, name)
    picture = decode_webp(read_bytes(file, Source(str(file), PICTURE, ValueError)))
    if picture_name(picture) != name:
        raise ValueError("its pixels are not those that it is named after")
    return picture


def picture_file(folder: Path, name: str) -> Path:
    """Return the path of an image's file."""
    return folder / f"{name}.webp"
