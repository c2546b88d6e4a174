"""Metrics of the pictures: what changed on the screen, and when; pure.

A load's frames are read once for all of them. A full-size frame is 2.8 MB, a load has hundreds:
only their histograms are kept, and a small grey picture of each for the indices that compare
positions.

Visual progress of a frame is the sum over all histogram bins of min(|now - first|, |final - first|)
over the sum of |final - first|. It compares colours, not positions: text that moves is not seen,
and colours that come and go count while they are there. (WebPageTest's progress from histograms.)
First and Last Visual Change and Visually Complete (85, 95 or 99 percent) are moments of its course.

Speed Index is the integral of (1 - visual progress) over time from navigation start to the last
visual change (P. Meenan, WebPageTest, 2012). Two more indices take all of the time up to First
Visual Change, then an integral of their own:

- Perceptual Speed Index, of (1 - structural similarity to the final picture): unlike the histogram
  it sees where things are. (Gao, Dey, Ahammad: Perceived Performance of Top Retail Webpages, 2017;
  weighed as Browsertime does.) Structural similarity: Z. Wang, A. Bovik, H. Sheikh, E. Simoncelli:
  Image Quality Assessment: From Error Visibility to Structural Similarity, IEEE Transactions on
  Image Processing 13(4), 2004, equation 13.
- Contentful Speed Index, of (1 - edges of the picture over the most that any picture has): text and
  images count, backgrounds do not. (WebPageTest and Browsertime, after B. Schloss's visualmetrics.)
  Edges: J. Canny: A Computational Approach to Edge Detection, IEEE Transactions on Pattern Analysis
  and Machine Intelligence 8(6), 1986: blur, gradient, thinning along the gradient, two thresholds.

Most frames of a load change a few lines of text or one image, and a map's value depends on pixels
nearby alone. So maps of pictures are computed again only in the boxes that changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import scipy
from numpy.typing import NDArray
from PIL import Image

from eyelevel.store.pictures import any_channel

NEAR_WHITE_MIN = 250
"""The least value of all three channels of a background pixel. Histograms leave these out, as in
WebPageTest and Browsertime: otherwise painting anything on white would count twice, once as less
white."""

BRIGHTNESS_WIDTH_PX = 320
"""The approximate width of the grey images: whole blocks of pixels are averaged."""

CHANGES_GAP_PX = 8
"""Changes that are closer share a box: another box costs as much as some hundred pixels."""

Picture = NDArray[np.uint8]
"""An image: height x width x 3, red, green, blue."""


@dataclass(frozen=True, slots=True)
class VisualHistory:
    """The frames of a load that count: the first, and each that differs from the one before it."""

    at_ms: tuple[float, ...]
    """Display times from navigation start, ascending; the first is the start state's, 0."""
    histograms: NDArray[np.int64]
    """frames x 3 x 256: pixels of each channel and value, near-white pixels left out."""
    brightness: tuple[NDArray[np.uint8], ...]
    """The frames in grey, in the order of `at_ms`, each about `BRIGHTNESS_WIDTH_PX` wide."""

    @property
    def changed(self) -> bool:
        """Whether anything was ever painted."""
        return len(self.at_ms) > 1


def visual_history(frames: Iterable[tuple[float, Picture]]) -> VisualHistory:
    """Read frames `(at_ms, picture)` in order of time; all of one size, the start state first.

    Any difference in any pixel counts: frames are lossless, nothing is masked. Raises `ValueError`
    for frames of different sizes or out of order.
    """
    at_ms: list[float] = []
    histograms: list[NDArray[np.int64]] = []
    brightness: list[NDArray[np.uint8]] = []
    before: Picture | None = None
    for time_ms, picture in frames:
        if before is None:
            histograms.append(histogram(picture))
            brightness.append(small_brightness(picture))
        else:
            _check_sequence(at_ms[-1], before, time_ms, picture)
            changed = find_changed_boxes(before, picture, CHANGES_GAP_PX)
            if not changed:
                continue
            histograms.append(_histogram_after(histograms[-1], before, picture, changed))
            brightness.append(_brightness_after(brightness[-1], picture, changed))
        at_ms.append(float(time_ms))
        before = picture
    stacked = np.stack(histograms) if histograms else np.zeros((0, 3, 256), np.int64)
    return VisualHistory(tuple(at_ms), stacked, tuple(brightness))


def _histogram_after(
    counts: NDArray[np.int64], before: Picture, picture: Picture, changed: Sequence[Box]
) -> NDArray[np.int64]:
    """Return the histogram of `picture`, counted only in the changed boxes if that is less work."""
    if 2 * sum(picture[box].size for box in changed) > picture.size:
        return histogram(picture)
    for box in changed:
        counts = counts - histogram(before[box]) + histogram(picture[box])
    return counts


def _brightness_after(
    small: NDArray[np.uint8], picture: Picture, changed: Sequence[Box]
) -> NDArray[np.uint8]:
    """Return the grey image, with only the changed blocks recomputed."""
    small, block = small.copy(), _block_px(picture)
    for box in changed:
        rows, columns = (slice(side.start // block, -(-side.stop // block)) for side in box)
        pixels = tuple(slice(side.start * block, side.stop * block) for side in (rows, columns))
        small[rows, columns] = _mean_of_blocks(picture[pixels], block)
    return small


def histogram(picture: Picture) -> NDArray[np.int64]:
    """Return 3 x 256 pixel counts of an image without its near-white pixels."""
    coloured = any_channel(picture < NEAR_WHITE_MIN)
    # Pillow counts in compiled code; numpy takes ten times as long.
    mask = Image.fromarray(coloured.view(np.uint8))
    counts = Image.fromarray(picture).histogram(mask)
    return np.array(counts, np.int64).reshape(3, 256)


def small_brightness(picture: Picture) -> NDArray[np.uint8]:
    """Return the mean brightness (ITU-R BT.601 weights) of square blocks, within 1 of 255."""
    return _mean_of_blocks(picture, _block_px(picture))


def _block_px(picture: Picture) -> int:
    width: int = picture.shape[1]
    return max(1, round(width / BRIGHTNESS_WIDTH_PX))


def _mean_of_blocks(picture: Picture, block: int) -> NDArray[np.uint8]:
    """Return the mean of each whole block; remainders at the right and below are ignored."""
    height, width = (length // block * block for length in picture.shape[:2])
    whole = np.ascontiguousarray(picture[:height, :width])
    return np.asarray(Image.fromarray(whole).convert("L").reduce(block), np.uint8)


def _check_sequence(before_ms: float, before: Picture, at_ms: float, picture: Picture) -> None:
    if picture.shape != before.shape:
        raise ValueError(
            f"reading frames: one at {at_ms} ms is {picture.shape[1]}x{picture.shape[0]} "
            f"after {before.shape[1]}x{before.shape[0]}; keep the viewport fixed"
        )
    if at_ms < before_ms:
        raise ValueError(f"reading frames: {at_ms} ms after {before_ms} ms; sort them")


def progress_parts(histograms: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Return each frame's completed part and the total, in pixel counts.

    They are integers, so that thresholds are exact.
    """
    away = np.abs(histograms - histograms[0])
    whole = away[-1]
    return np.minimum(away, whole).sum(axis=(1, 2)), int(whole.sum())


Progress = tuple[tuple[float, float], ...]
"""Steps `(at_ms, share)`: the visual progress from `at_ms` on, 0 to 1."""

STEP_MIN = 0.005
"""The smallest step of a curve; smaller ones are invisible in a chart."""

STEPS_MAX = 100
"""The most steps of one load's curve; a study has 150,000 loads."""


def visual_progress(history: VisualHistory) -> list[tuple[float, float]]:
    """Return `(at_ms, share)` of each frame that counts, share from 0 to 1, not rounded.

    If the final frame's colours equal the start's (only near-white changed, or things moved),
    colours are no measure: progress is then 0 until the last change.
    """
    if not history.changed:
        return [(at_ms, 0.0) for at_ms in history.at_ms]
    done, whole = progress_parts(history.histograms)
    shares = done / whole if whole else np.zeros(len(done))
    shares[-1] = 1.0
    return [(at_ms, float(share)) for at_ms, share in zip(history.at_ms, shares, strict=True)]


def thin_progress(history: VisualHistory) -> Progress:
    """Return the steps of visual progress that a curve needs, the first at 0; empty without change.

    There are at most STEPS_MAX: the smallest are left out, so that no share is off by more than
    they are.
    """
    if not history.changed:
        return ()
    progress, least = visual_progress(history), STEP_MIN
    kept = _steps(progress, least)
    while len(kept) > STEPS_MAX:
        least *= 2
        kept = _steps(progress, least)
    return tuple(kept)


def _steps(progress: Sequence[tuple[float, float]], least: float) -> list[tuple[float, float]]:
    """Return the first step, the last, and each that is `least` away from the previous one."""
    kept = list(progress[:1])
    for step in progress[1:-1]:
        if abs(step[1] - kept[-1][1]) >= least:
            kept.append(step)
    return [*kept, progress[-1]]


def speed_index(history: VisualHistory) -> float | None:
    """Return milliseconds; None if nothing ever changed."""
    return missing_area(visual_progress(history)) if history.changed else None


def missing_area(progress: Sequence[tuple[float, float]]) -> float:
    """Return the integral of (1 - share) over `(at_ms, share)` steps, first to last."""
    area_ms = 0.0
    for (from_ms, share), (to_ms, _) in pairwise(progress):
        area_ms += (to_ms - from_ms) * (1.0 - share)
    return area_ms


def first_visual_change(history: VisualHistory) -> float | None:
    """Return milliseconds from navigation start; None if nothing ever changed."""
    return history.at_ms[1] if history.changed else None


def last_visual_change(history: VisualHistory) -> float | None:
    """Return milliseconds from navigation start; None if nothing ever changed."""
    return history.at_ms[-1] if history.changed else None


def visual_complete(history: VisualHistory, percent: int) -> float | None:
    """Return milliseconds from navigation start; None if nothing ever changed.

    The first time counts even if progress falls again later, as in WebPageTest and Browsertime.
    """
    if not history.changed:
        return None
    done, whole = progress_parts(history.histograms)
    # Compared as integers: 85 of 100 pixels are 85 %, whatever the rounding of 0.85.
    reached = done * 100 >= percent * whole if whole else [False] * len(done)
    times = zip(history.at_ms, reached, strict=True)
    return next((at_ms for at_ms, is_reached in times if is_reached), history.at_ms[-1])


def perceptual_speed_index(history: VisualHistory) -> float | None:
    """Return milliseconds; None if nothing ever changed."""
    if not history.changed:
        return None
    similarity = _similarity_to(history.brightness[-1].astype(np.float64))
    maps = map_of_each(history.brightness[1:], similarity, REACH_PIXELS)
    return index_from_first_change(
        history.at_ms[1:], [float(np.mean(similarities)) for similarities in maps]
    )


def index_from_first_change(at_ms: Sequence[float], shares: Sequence[float]) -> float:
    """Return the whole time up to the first change, then the integral of the missing share.

    `at_ms` are the times of the changes, from navigation start, `shares` those reached at each.
    """
    return at_ms[0] + missing_area(list(zip(at_ms, shares, strict=True)))


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
    return _similarity_to(second)(first, (slice(0, height), slice(0, width)))


def _similarity_to(final: Luma) -> Callable[[Luma, Box], Luma]:
    """Return a function like `similarity_map` for boxes of images, each against `final`.

    Terms that depend only on `final` are computed once.
    """
    weights = _gaussian(WINDOW_PIXELS, WINDOW_SIGMA)
    final_mean = _blur(final, weights)
    final_square = final_mean * final_mean
    final_variance = _blur(final * final, weights) - final_square

    def whole_map(picture: Luma, box: Box) -> Luma:
        mean, mean_2, square_2 = _blur(picture, weights), final_mean[box], final_square[box]
        square, product = mean * mean, mean * mean_2
        variance = _blur(picture * picture, weights) - square
        covariance = _blur(picture * final[box], weights) - product
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
            _recompute(similarities, changed, REACH_PIXELS, part)
        return similarities

    return map_of


def _gaussian(pixels: int, sigma: float) -> Luma:
    """Return a window's weights, of sum 1."""
    offsets = np.arange(pixels) - (pixels - 1) / 2
    weights: Luma = np.exp(-(offsets**2) / (2 * sigma**2))
    normalised: Luma = weights / weights.sum()
    return normalised


def _blur(picture: Luma, weights: Luma) -> Luma:
    """Return a separable convolution of the same size, the image mirrored at its borders."""
    rows = scipy.ndimage.correlate1d(picture, weights, axis=1, mode="reflect")
    both: Luma = scipy.ndimage.correlate1d(rows, weights, axis=0, mode="reflect")
    return both


def contentful_speed_index(history: VisualHistory) -> float | None:
    """Return milliseconds; None if nothing ever changed."""
    if not history.changed:
        return None

    def gradient(picture: Luma, _: Box) -> Luma:
        return thin_gradient(picture)

    maps = map_of_each(history.brightness[1:], gradient, EDGE_REACH_PIXELS)
    counts = [int(_connect_edges(gradients).sum()) for gradients in maps]
    return index_from_first_change(history.at_ms[1:], shares_of_most(counts))


def shares_of_most(counts: Sequence[int]) -> list[float]:
    """Return each count over the largest one; 1 if no frame has an edge."""
    most = max(counts)
    return [count / most if most else 1.0 for count in counts]


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

EDGE_REACH_PIXELS = BLUR_PIXELS // 2 + 2
"""The distance within which pixels influence a gradient: blur, Sobel's operator, thinning."""


def edges(picture: Luma) -> NDArray[np.bool_]:
    """Return a mask of the pixels on an edge."""
    return _connect_edges(thin_gradient(picture))


def thin_gradient(picture: Luma) -> Luma:
    """Return the gradient's strength at pixels that may be on an edge; 0 elsewhere.

    It is at least WEAK_MIN there, and largest along its own direction.
    """
    smooth = np.pad(_blur(picture, _gaussian(BLUR_PIXELS, BLUR_SIGMA)), 1, mode="edge")
    # Sobel's operator, both directions.
    right = smooth[:, 2:] - smooth[:, :-2]
    down = smooth[2:, :] - smooth[:-2, :]
    across = right[:-2] + 2 * right[1:-1] + right[2:]
    along = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    return _thin(across, along)


def _connect_edges(thin: Luma) -> NDArray[np.bool_]:
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
    step = _edge_steps(across, along, width + 2)
    largest = (gradient >= strength[places + step]) & (gradient >= strength[places - step])
    largest &= gradient >= WEAK_MIN
    thin.reshape(-1)[candidates[largest]] = gradient[largest]
    return thin


def _edge_steps(across: Luma, along: Luma, row: int) -> NDArray[np.int64]:
    """Return the offset of the neighbour along each gradient, to within 22.5 degrees.

    `row`: the offset of one row. It compares slopes, since computing angles takes ten times as
    long.
    """
    width, height = np.abs(across), np.abs(along)
    falling = (across > 0) == (along > 0)
    level, steep = height <= SLOPE_22 * width, width < SLOPE_22 * height
    return np.select([level, steep, falling], [1, row, row + 1], row - 1)


Box = tuple[slice, slice]
"""The rows and columns of a part of an image."""

BOXES_MAX = 4
"""The most boxes; more cost more than one box around all of them."""

Luma = NDArray[np.float64]
"""Brightness: height x width, 0 to 255."""

MapOf = Callable[[Luma, Box], Luma]
"""A function that returns the map of a part; the box is its position in the image."""


def find_changed_boxes(
    before: NDArray[np.generic], after: NDArray[np.generic], gap: int
) -> list[Box]:
    """Return boxes that contain every difference of two images of one size.

    They are grey or have three colours. Differences at most `gap` pixels apart share a box.
    """
    height, width, *colours = before.shape
    depth = colours[0] if colours else 1
    different = before.reshape(height, width * depth) != after.reshape(height, width * depth)
    boxes = [
        (rows, columns)
        for rows in _runs(different.any(axis=1), gap, 1)
        for columns in _runs(different[rows].any(axis=0), gap, depth)
    ]
    return boxes if len(boxes) <= BOXES_MAX else [_bounding(boxes)]


def map_of_each(
    pictures: Iterable[NDArray[np.uint8]], map_of: MapOf, reach_pixels: int
) -> Iterator[Luma]:
    """Yield the map of each image, of its size; one array is updated in place.

    `reach_pixels` is how far away a pixel still influences the map.
    """
    before: NDArray[np.uint8] | None = None
    whole = np.zeros((0, 0))
    for picture in pictures:
        if before is None:
            height, width = picture.shape
            whole = map_of(picture.astype(np.float64), (slice(0, height), slice(0, width)))
        else:
            part_of = partial(_part, picture, map_of)
            for box in find_changed_boxes(before, picture, 2 * reach_pixels):
                _recompute(whole, box, reach_pixels, part_of)
        before = picture
        yield whole


def _recompute(whole: Luma, changed: Box, reach_pixels: int, map_of: Callable[[Box], Luma]) -> None:
    """Recompute `whole` where the changed box influences it.

    Twice the reach is computed, so that the cut edges of the part do not affect the result.
    """
    rows, renewed_rows, kept_rows = _around(changed[0], reach_pixels, whole.shape[0])
    columns, renewed_columns, kept_columns = _around(changed[1], reach_pixels, whole.shape[1])
    whole[renewed_rows, renewed_columns] = map_of((rows, columns))[kept_rows, kept_columns]


def _runs(different: NDArray[np.bool_], gap: int, depth: int) -> list[slice]:
    """Return the ranges of true values; `depth` neighbours are one position."""
    places = np.flatnonzero(different) // depth
    if not len(places):
        return []
    cuts = np.flatnonzero(np.diff(places) > gap + 1) + 1
    return [
        slice(int(places[first]), int(places[last - 1]) + 1)
        for first, last in pairwise((0, *cuts.tolist(), len(places)))
    ]


def _bounding(boxes: list[Box]) -> Box:
    ends = [
        slice(min(box[axis].start for box in boxes), max(box[axis].stop for box in boxes))
        for axis in (0, 1)
    ]
    return ends[0], ends[1]


def _around(changed: slice, reach_pixels: int, length: int) -> tuple[slice, slice, slice]:
    """Return three slices for one dimension.

    They are what to compute, which part of the map to replace, and where in the computed part that
    is.
    """
    first, last = max(changed.start - reach_pixels, 0), min(changed.stop + reach_pixels, length)
    start, stop = max(first - reach_pixels, 0), min(last + reach_pixels, length)
    return slice(start, stop), slice(first, last), slice(first - start, last - start)


def _part(picture: NDArray[np.uint8], map_of: MapOf, box: Box) -> Luma:
    return map_of(picture[box].astype(np.float64), box)
