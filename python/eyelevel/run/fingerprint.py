"""A small picture of how a load ended, to tell whether two loads show the same page."""

import io
from collections.abc import Sequence

from PIL import Image

SIZE_PX = (32, 18)
"""Blurs carousels' captions and cursors, keeps a missing hero or an error page."""


def final_picture(frames: Sequence[bytes]) -> str | None:
    """The last frame in 32 x 18 shades of grey, hexadecimal, row by row; None without frames."""
    if not frames:
        return None
    with Image.open(io.BytesIO(frames[-1])) as picture:
        small = picture.convert("L").resize(SIZE_PX, Image.Resampling.BOX)
    return small.tobytes().hex()
