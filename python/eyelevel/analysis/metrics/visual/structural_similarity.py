"""Structural similarity of two images.

Z. Wang, A. Bovik, H. Sheikh, E. Simoncelli: Image Quality Assessment: From Error Visibility to
Structural Similarity, IEEE Transactions on Image Processing 13(4), 2004, equation 13.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import NDArray

from eyelevel.analysis.metrics.visual.boxes import Box, Luma, find_changed_boxes, renew

WINDOW_PIXELS = 11
WINDOW_SIGMA = 1.5
REACH_PIXELS = WINDOW_PIXELS // 2
LUMINANCE_CONSTANT = (0.01 * 255) ** 2
CONTRAST_CONSTANT = (0.03 * 255) ** 2
"""The window and constants of the paper."""


def luma(picture: NDArray[np.uint8]) -> Luma:
    """Return the brightness of an RGB image (ITU-R BT.601 weights)."""
    brightness: Luma = picture.astype(np.float64) @ np.array([0.299, 0.587, 0.114])
    return brightness


def structural_similarity(first: Luma, second: Luma) -> float:
    """Return the mean similarity of two images, 1 for equal ones."""
    return float(np.mean(similarity_map(first, second)))


def similarity_map(first: Luma, second: Luma) -> Luma:
    """Return the similarity around each pixel; it depends on pixels within half a window."""
    height, width = first.shape
    return similarity_to(second)(first, (slice(0, height), slice(0, width)))


def similarity_to(final: Luma) -> Callable[[Luma, Box], Luma]:
    """Return a function like `similarity_map` for boxes of images, each against `final`.

    Terms that depend only on `final` are computed once.
    """
    weights = gaussian(WINDOW_PIXELS, WINDOW_SIGMA)
    final_mean = blur(final, weights)
    final_square = final_mean * final_mean
    final_variance = blur(final * final, weights) - final_square

    def whole_map(picture: Luma, box: Box) -> Luma:
        mean, mean_2, square_2 = blur(picture, weights), final_mean[box], final_square[box]
        square, product = mean * mean, mean * mean_2
        variance = blur(picture * picture, weights) - square
        covariance = blur(picture * final[box], weights) - product
        alike = (2 * product + LUMINANCE_CONSTANT) * (2 * covariance + CONTRAST_CONSTANT)
        largest = (square + square_2 + LUMINANCE_CONSTANT) * (
            variance + final_variance[box] + CONTRAST_CONSTANT
        )
        similarities: Luma = alike / largest
        return similarities

    def map_of(picture: Luma, box: Box) -> Luma:
        # Pages fill with final content: parts that equal the final image have similarity 1,
        # and need no blur.
        similarities = np.ones(picture.shape)
        top, left = box[0].start, box[1].start

        def part(of_picture: Box) -> Luma:
            rows, columns = of_picture
            of_final = (
                slice(top + rows.start, top + rows.stop),
                slice(left + columns.start, left + columns.stop),
            )
            return whole_map(picture[of_picture], of_final)

        for changed in find_changed_boxes(picture, final[box], 2 * REACH_PIXELS):
            renew(similarities, changed, REACH_PIXELS, part)
        return similarities

    return map_of


def gaussian(pixels: int, sigma: float) -> Luma:
    """Return a window's weights, of sum 1."""
    offsets = np.arange(pixels) - (pixels - 1) / 2
    weights: Luma = np.exp(-(offsets**2) / (2 * sigma**2))
    normalised: Luma = weights / weights.sum()
    return normalised


def blur(picture: Luma, weights: Luma) -> Luma:
    """Return a separable convolution of the same size, the image mirrored at its borders."""
    rows = scipy.ndimage.correlate1d(picture, weights, axis=1, mode="reflect")
    both: Luma = scipy.ndimage.correlate1d(rows, weights, axis=0, mode="reflect")
    return both
