"""A small picture of how a load ended, to tell whether two loads show the same page."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

SIZE_PX = (32, 18)
"""Blurs carousels' captions and cursors, keeps a missing hero or an error page."""


def final_picture(last: NDArray[np.uint8] | None) -> str | None:
    """The last frame in 32 x 18 shades of grey, hexadecimal, row by row; None without one."""
    if last is None:
        return None
    small = Image.fromarray(last).convert("L").resize(SIZE_PX, Image.Resampling.BOX)
    return small.tobytes().hex()
