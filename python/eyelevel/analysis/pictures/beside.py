"""Put images of one page side by side, measure their difference, and recognise blank ones."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from eyelevel.base.errors import OutsideError
from eyelevel.base.from_outside.pictures import PictureError, open_picture

PANEL_WIDTH_PX = 640
CAPTION_HEIGHT_PX = 32
MARGIN_PX = 12
LEVELS_ALIKE = 24
"""The largest difference of a channel that does not count, of 255: lossy compression of the
recorded image and antialiasing of text make smaller ones."""


def difference_share(first: bytes, second: bytes) -> float | None:
    """Return the share of pixels, 0 to 1, that differ visibly; None for unequal sizes."""
    one, other = _open(first), _open(second)
    if one.size != other.size:
        return None
    levels = np.abs(np.asarray(one, dtype=np.int16) - np.asarray(other, dtype=np.int16))
    return float((levels.max(axis=2) > LEVELS_ALIKE).mean())


def is_blank(image: bytes) -> bool:
    """Return whether all pixels have one colour, within the tolerance of compression.

    Raises OutsideError if it is not an image.
    """
    points = np.asarray(_open(image), dtype=np.int16).reshape(-1, 3)
    return bool((np.abs(points - points[0]) <= LEVELS_ALIKE).all())


def beside(panels: Sequence[tuple[str, bytes]]) -> bytes:
    """Return a PNG of all images in a row, each under its caption, scaled to one width."""
    pictures = [(caption, _scale(_open(image))) for caption, image in panels]
    height = max(picture.height for _, picture in pictures) + CAPTION_HEIGHT_PX + 2 * MARGIN_PX
    width = len(pictures) * (PANEL_WIDTH_PX + MARGIN_PX) + MARGIN_PX
    canvas = Image.new("RGB", (width, height), "#e8e8ec")
    draw = ImageDraw.Draw(canvas)
    font = ImageFont.load_default(16)
    for number, (caption, picture) in enumerate(pictures):
        left = MARGIN_PX + number * (PANEL_WIDTH_PX + MARGIN_PX)
        draw.text((left, MARGIN_PX), caption, fill="#222228", font=font)
        canvas.paste(picture, (left, MARGIN_PX + CAPTION_HEIGHT_PX))
    encoded = io.BytesIO()
    canvas.save(encoded, "PNG")
    return encoded.getvalue()


def _open(image: bytes) -> Image.Image:
    """Return a page's image in RGB. Raises OutsideError if it is not an image."""
    try:
        return open_picture(image)
    except PictureError as error:
        raise OutsideError(f"a picture of the page: {error}; record it again") from error


def _scale(picture: Image.Image) -> Image.Image:
    height = max(1, round(picture.height * PANEL_WIDTH_PX / picture.width))
    return picture.resize((PANEL_WIDTH_PX, height), Image.Resampling.LANCZOS)
