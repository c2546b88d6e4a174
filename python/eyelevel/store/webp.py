"""Pictures as lossless WebP."""

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Picture = NDArray[np.uint8]
"""height x width x 3, red, green, blue."""

EFFORT = {"method": 3, "quality": 50}
"""Of the encoder (docs/decisions/frame-capture.md)."""

LESS_EFFORT = {"method": 2, "quality": 50}
"""A quarter less time; boxes of changes become no larger, whole pictures by 3 %."""

HASTY_EFFORT = {"method": 0, "quality": 0}
"""Ten times as fast, and twice as large."""


def encode_webp(picture: Picture, effort: dict[str, int]) -> bytes:
    """The picture without loss."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "WEBP", lossless=True, **effort)
    return buffer.getvalue()


def decode_webp(webp: bytes) -> Picture:
    """Raises OSError or ValueError where it is damaged."""
    with Image.open(io.BytesIO(webp)) as image:
        return np.array(image if image.mode == "RGB" else image.convert("RGB"))
