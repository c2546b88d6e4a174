"""Visual metrics of a recorded video in Browsertime's convention (pure).

The video shows an orange page until the navigation, then the loading page, perhaps under the bar
of a browser. `find_viewport` finds the page in the first frame; `video_metrics` takes thumbnails of
that part. Differences from the convention of measured loads: `docs/reference/metrics.md`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from eyelevel.metrics.visual.contentful_speed_index import shares_of_most
from eyelevel.metrics.visual.edges import edges
from eyelevel.metrics.visual.history import Picture, histogram
from eyelevel.metrics.visual.perceptual_speed_index import index_from_first_change
from eyelevel.metrics.visual.speed_index import missing_area
from eyelevel.metrics.visual.structural_similarity import luma, structural_similarity
from eyelevel.metrics.visual.visual_progress import progress_parts

THUMBNAIL_WIDTH_PX = 400
"""Width of the thumbnails that are compared."""

ORANGE_RGB = (222, 100, 13)
ORANGE_TOLERANCE = 25
"""Colour of the page before the navigation, and how far lossy video takes a channel from it."""

VIEWPORT_TOLERANCE = 15
"""How far a channel of the page's pixels in the first frame may be from its centre's."""

VIEWPORT_INSET_PX = 6
"""Left out at each edge at which the page borders on something else: lossy video bleeds colours
over edges, up to a block of 8 pixels. 6 agrees best with Browsertime on three videos."""

CHANGE_MIN = math.floor(0.15 * 255)
"""A frame is kept if a channel of a pixel differs by more: 15 %, above what lossy video does to an
unchanged picture (14 of 255 was seen) and below faint text (58)."""

MASK_TOP_PX, MASK_RIGHT_PX, MASK_BOTTOM_PX = 40, 10, 24
"""Thumbnail margins not compared if no browser bar was found: a clock or a scroll bar there
would count as a change."""


@dataclass(frozen=True, slots=True)
class Viewport:
    """Where the page is in the video, pixels."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class VideoMetrics:
    """Milliseconds from the first frame that is not orange."""

    first_visual_change_ms: int | None
    last_visual_change_ms: int | None
    visual_complete_85_ms: int | None
    visual_complete_95_ms: int | None
    visual_complete_99_ms: int | None
    speed_index_ms: float | None
    perceptual_speed_index_ms: float | None
    contentful_speed_index_ms: float | None
    visual_progress: tuple[tuple[int, float], ...]
    """`(at_ms, percent)` of each kept frame; whole percent in Browsertime's convention."""


def find_viewport(first: Picture) -> Viewport:
    """The part around the centre that has the centre's colour, along both middle lines."""
    height, width, _ = first.shape
    away = np.abs(first.astype(np.int16) - first[height // 2, width // 2])
    alike = (away <= VIEWPORT_TOLERANCE).all(axis=2)
    left, right = _inset(_run_around(alike[height // 2], width // 2), width)
    top, bottom = _inset(_run_around(alike[:, width // 2], height // 2), height)
    return Viewport(left, top, right - left, bottom - top)


def video_metrics(
    frames: Iterable[tuple[float, Picture]], masked: bool, floored: bool = True
) -> VideoMetrics:
    """Metrics of `(at_ms, thumbnail)` in order of time, the video's start at 0.

    `masked` leaves the margins out of the search for changes, as Browsertime does if the page
    fills the video. `floored` gives whole percent and counts edges one frame early, as it does.
    """
    kept = _kept_frames(frames, masked)
    if len(kept) < 2:
        return _nothing_changed(tuple((at_ms, 0) for at_ms, _ in kept))
    done, whole = progress_parts(np.stack([histogram(picture) for _, picture in kept]))
    parts = [int(part) * 100 / whole if whole else 0.0 for part in done[:-1]]
    percents = [*((math.floor(part) if floored else part) for part in parts), 100]
    progress = tuple((at_ms, p) for (at_ms, _), p in zip(kept, percents, strict=True))

    times = [at_ms for at_ms, _ in kept[1:]]
    contents = _contents(kept)
    if floored:
        # Browsertime weighs each interval with the edges at its end, not at its start.
        contents = [*contents[1:], 1.0]

    def complete(percent: int) -> int:
        return next(at_ms for at_ms, reached in progress if reached >= percent)

    return VideoMetrics(
        first_visual_change_ms=kept[1][0],
        last_visual_change_ms=kept[-1][0],
        visual_complete_85_ms=complete(85),
        visual_complete_95_ms=complete(95),
        visual_complete_99_ms=complete(99),
        speed_index_ms=missing_area([(at_ms, p / 100) for at_ms, p in progress]),
        perceptual_speed_index_ms=index_from_first_change(times, _similarities(kept)),
        contentful_speed_index_ms=index_from_first_change(times, contents),
        visual_progress=progress,
    )


def _nothing_changed(progress: tuple[tuple[int, int], ...]) -> VideoMetrics:
    none = dict.fromkeys((field.name for field in fields(VideoMetrics)), None)
    return VideoMetrics(**none | {"visual_progress": progress})  # type: ignore[arg-type]


def _run_around(alike: NDArray[np.bool_], centre: int) -> tuple[int, int]:
    """The range of true values that holds `centre`."""
    others = np.flatnonzero(~alike)
    before, after = others[others < centre], others[others > centre]
    return (int(before[-1]) + 1 if len(before) else 0), (
        int(after[0]) if len(after) else len(alike)
    )


def _inset(run: tuple[int, int], length: int) -> tuple[int, int]:
    start, end = run
    inset_start = start + VIEWPORT_INSET_PX if start > 0 else 0
    inset_end = end - VIEWPORT_INSET_PX if end < length else length
    return (inset_start, inset_end) if inset_start < inset_end else run


def _kept_frames(
    frames: Iterable[tuple[float, Picture]], masked: bool
) -> list[tuple[int, Picture]]:
    """The first frame after the orange ones, at 0, and each that differs from the last kept one."""
    kept: list[tuple[int, Picture]] = []
    start_ms = 0.0
    for at_ms, picture in frames:
        if not kept and _is_orange(picture):
            continue
        if not kept:
            start_ms = at_ms
        if not kept or _differ(kept[-1][1], picture, masked):
            # Browsertime counts whole milliseconds; 1e-6 undoes binary fractions of 1/30 s.
            kept.append((math.floor(at_ms - start_ms + 1e-6), picture))
    return kept


def _is_orange(picture: Picture) -> bool:
    middle = np.median(picture.reshape(-1, 3), axis=0)
    return bool((np.abs(middle - ORANGE_RGB) <= ORANGE_TOLERANCE).all())


def _differ(first: Picture, second: Picture, masked: bool) -> bool:
    if masked:
        height, width, _ = first.shape
        seen = slice(MASK_TOP_PX, height - MASK_BOTTOM_PX), slice(0, width - MASK_RIGHT_PX)
        first, second = first[seen], second[seen]
    away = np.abs(first.astype(np.int16) - second)
    return bool((away > CHANGE_MIN).any())


def _similarities(kept: Sequence[tuple[int, Picture]]) -> list[float]:
    final = luma(kept[-1][1])
    return [structural_similarity(luma(picture), final) for _, picture in kept[1:]]


def _contents(kept: Sequence[tuple[int, Picture]]) -> list[float]:
    """Edges of each frame as a share of the most that any has."""
    counts = [int(edges(luma(picture)).sum()) for _, picture in kept[1:]]
    return shares_of_most(counts)
