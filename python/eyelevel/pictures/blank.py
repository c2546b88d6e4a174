"""Whether a picture shows anything."""

from __future__ import annotations

import numpy as np

from eyelevel.pictures.beside import LEVELS_ALIKE, opened


def is_blank(image: bytes) -> bool:
    """Whether all its points have one colour, but for what compression changes.

    Raises OutsideError if it is no picture.
    """
    points = np.asarray(opened(image), dtype=np.int16).reshape(-1, 3)
    return bool((np.abs(points - points[0]) <= LEVELS_ALIKE).all())
