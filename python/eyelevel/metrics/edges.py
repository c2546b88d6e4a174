"""Edges of a picture after Canny.

J. Canny: A Computational Approach to Edge Detection, IEEE Transactions on Pattern Analysis and
Machine Intelligence 8(6), 1986: blur, gradient, thinning along the gradient, two thresholds.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from eyelevel.metrics.structural_similarity import Luma, blur, gaussian

BLUR_PIXELS = 7
BLUR_SIGMA = 1.0
"""Blur before the gradient."""

WEAK_MIN = 50.0
STRONG_MIN = 100.0
"""Thresholds of Sobel's gradient (at most 1020 along one direction); a weak edge counts where it
touches a strong one. Fixed, not shares of the largest gradient, so that a dark picture behind
white text has edges too."""


SLOPE_22 = np.tan(np.pi / 8)
"""Of 22.5 degrees, half of a sector."""

REACH_PIXELS = BLUR_PIXELS // 2 + 2
"""How far a pixel has a say in another's gradient: blur, Sobel's operator, thinning."""


def edges(picture: Luma) -> NDArray[np.bool_]:
    """Which pixels lie on an edge."""
    return connected(thinned_gradient(picture))


def thinned_gradient(picture: Luma) -> Luma:
    """Strength of the gradient where it is largest along its own direction; 0 elsewhere."""
    smooth = np.pad(blur(picture, gaussian(BLUR_PIXELS, BLUR_SIGMA)), 1, mode="edge")
    # Sobel's operator, both directions.
    right = smooth[:, 2:] - smooth[:, :-2]
    down = smooth[2:, :] - smooth[:-2, :]
    across = right[:-2] + 2 * right[1:-1] + right[2:]
    along = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    return _thinned(np.hypot(across, along), across, along)


def connected(thin: Luma) -> NDArray[np.bool_]:
    """Strong edges and the weak ones that they reach over weak ones."""
    around = np.ones((3, 3), dtype=bool)
    strong = thin >= STRONG_MIN
    found: NDArray[np.bool_] = scipy.ndimage.binary_propagation(
        strong, around, mask=thin >= WEAK_MIN
    )
    return found


def _thinned(strength: Luma, across: Luma, along: Luma) -> Luma:
    padded = np.pad(strength, 1)
    height, width = strength.shape
    kept = np.zeros_like(strength)
    steps = ((0, 1), (1, 1), (1, 0), (1, -1))
    for sector, (step_y, step_x) in zip(_sectors(across, along), steps, strict=True):
        ahead = padded[1 + step_y : 1 + step_y + height, 1 + step_x : 1 + step_x + width]
        behind = padded[1 - step_y : 1 - step_y + height, 1 - step_x : 1 - step_x + width]
        largest = sector & (strength >= ahead) & (strength >= behind)
        np.copyto(kept, strength, where=largest)
    return kept


def _sectors(across: Luma, along: Luma) -> tuple[NDArray[np.bool_], ...]:
    """Where the gradient lies within 22.5 degrees of each of four directions; of none, the first.

    By comparing: its angle takes ten times as long.
    """
    width, height = np.abs(across), np.abs(along)
    level, steep = height <= SLOPE_22 * width, width < SLOPE_22 * height
    slanted = ~(level | steep)
    falling = (across > 0) == (along > 0)
    return level, slanted & falling, steep, slanted & ~falling
