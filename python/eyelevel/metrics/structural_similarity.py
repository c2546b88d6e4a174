"""Structural similarity of two pictures.

Z. Wang, A. Bovik, H. Sheikh, E. Simoncelli: Image Quality Assessment: From Error Visibility to
Structural Similarity, IEEE Transactions on Image Processing 13(4), 2004, equation 13.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

Luma = NDArray[np.float64]
"""height x width, 0 to 255."""

WINDOW_PIXELS = 11
WINDOW_SIGMA = 1.5
LUMINANCE_CONSTANT = (0.01 * 255) ** 2
CONTRAST_CONSTANT = (0.03 * 255) ** 2
"""Window and constants of the paper."""


def luma(picture: NDArray[np.uint8]) -> Luma:
    """Brightness of an RGB picture (ITU-R BT.601 weights)."""
    brightness: Luma = picture.astype(np.float64) @ np.array([0.299, 0.587, 0.114])
    return brightness


def structural_similarity(first: Luma, second: Luma) -> float:
    """Mean similarity, 1 for equal pictures."""
    return float(np.mean(similarity_map(first, second)))


def similarity_map(first: Luma, second: Luma) -> Luma:
    """Similarity around each pixel; it depends on no pixel further than half a window away."""
    weights = gaussian(WINDOW_PIXELS, WINDOW_SIGMA)
    mean_1, mean_2 = blur(first, weights), blur(second, weights)
    variance_1 = blur(first * first, weights) - mean_1 * mean_1
    variance_2 = blur(second * second, weights) - mean_2 * mean_2
    covariance = blur(first * second, weights) - mean_1 * mean_2
    alike = (2 * mean_1 * mean_2 + LUMINANCE_CONSTANT) * (2 * covariance + CONTRAST_CONSTANT)
    whole = (mean_1**2 + mean_2**2 + LUMINANCE_CONSTANT) * (
        variance_1 + variance_2 + CONTRAST_CONSTANT
    )
    return np.divide(alike, whole)


def gaussian(pixels: int, sigma: float) -> Luma:
    """A window's weights, of sum 1."""
    offsets = np.arange(pixels) - (pixels - 1) / 2
    weights: Luma = np.exp(-(offsets**2) / (2 * sigma**2))
    return np.divide(weights, weights.sum())


def blur(picture: Luma, weights: Luma) -> Luma:
    """Separable convolution, the picture mirrored at its borders; of the same size."""
    rows = scipy.ndimage.correlate1d(picture, weights, axis=1, mode="reflect")
    both: Luma = scipy.ndimage.correlate1d(rows, weights, axis=0, mode="reflect")
    return both
