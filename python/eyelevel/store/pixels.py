"""Images as arrays: tests on their pixels, and lossless WebP."""

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from eyelevel.base.from_outside.pictures import open_picture

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


def unlike_colour(picture: NDArray[np.uint8], colour: tuple[int, int, int]) -> NDArray[np.bool_]:
    """Return a mask, height x width, of the pixels with another colour."""
    height, width, _ = picture.shape
    row = np.tile(np.array(colour, np.uint8), width)
    return any_channel((picture.reshape(height, -1) != row).reshape(picture.shape))
