"""Edges of an image after Canny.

J. Canny: A Computational Approach to Edge Detection, IEEE Transactions on Pattern Analysis and
Machine Intelligence 8(6), 1986: blur, gradient, thinning along the gradient, two thresholds.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from eyelevel.analysis.metrics.visual.boxes import Luma
from eyelevel.analysis.metrics.visual.structural_similarity import blur, gaussian

BLUR_PIXELS = 7
BLUR_SIGMA = 1.0
"""The blur before the gradient."""

WEAK_MIN = 50.0
STRONG_MIN = 100.0
"""The thresholds of Sobel's gradient (at most 1020 along one direction); a weak edge counts if it
touches a strong one. They are fixed, not shares of the largest gradient, so that a dark image
behind white text has edges too."""

SLOPE_22 = np.tan(np.pi / 8)
"""The slope at 22.5 degrees, half of a sector."""

REACH_PIXELS = BLUR_PIXELS // 2 + 2
"""How far away a pixel still influences another's gradient: blur, Sobel's operator, thinning."""


def edges(picture: Luma) -> NDArray[np.bool_]:
    """Return a mask of the pixels on an edge."""
    return connect_edges(thin_gradient(picture))


def thin_gradient(picture: Luma) -> Luma:
    """Return the gradient's strength at pixels that may be on an edge; 0 elsewhere.

    It is at least WEAK_MIN there, and largest along its own direction.
    """
    smooth = np.pad(blur(picture, gaussian(BLUR_PIXELS, BLUR_SIGMA)), 1, mode="edge")
    # Sobel's operator, both directions.
    right = smooth[:, 2:] - smooth[:, :-2]
    down = smooth[2:, :] - smooth[:-2, :]
    across = right[:-2] + 2 * right[1:-1] + right[2:]
    along = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    return _thin(across, along)


def connect_edges(thin: Luma) -> NDArray[np.bool_]:
    """Return a mask of the strong edges, and of the weak ones connected with them."""
    groups, count = scipy.ndimage.label(thin >= WEAK_MIN, np.ones((3, 3), dtype=bool))
    is_strong = np.zeros(count + 1, dtype=bool)
    is_strong[groups[thin >= STRONG_MIN]] = True
    kept: NDArray[np.bool_] = is_strong[groups]
    return kept


def _thin(across: Luma, along: Luma) -> Luma:
    """Return the thinned gradient at the few pixels where it may be strong enough; else 0."""
    height, width = across.shape
    thin = np.zeros((height, width))
    candidates = np.flatnonzero(np.abs(across) + np.abs(along) >= WEAK_MIN)
    across, along = across.ravel()[candidates], along.ravel()[candidates]
    gradient = np.hypot(across, along)
    # With a border, so that every pixel has neighbours.
    strength = np.zeros((height + 2) * (width + 2))
    places = candidates + 2 * (candidates // width) + width + 3
    strength[places] = gradient
    step = _steps(across, along, width + 2)
    largest = (gradient >= strength[places + step]) & (gradient >= strength[places - step])
    largest &= gradient >= WEAK_MIN
    thin.reshape(-1)[candidates[largest]] = gradient[largest]
    return thin


def _steps(across: Luma, along: Luma, row: int) -> NDArray[np.int64]:
    """Return the offset of the neighbour along each gradient, to within 22.5 degrees.

    `row`: the offset of one row. It compares slopes, since computing angles takes ten times as
    long.
    """
    width, height = np.abs(across), np.abs(along)
    falling = (across > 0) == (along > 0)
    level, steep = height <= SLOPE_22 * width, width < SLOPE_22 * height
    return np.select([level, steep, falling], [1, row, row + 1], row - 1)
