"""Visual metrics of a recorded video in Browsertime's convention (pure).

The video shows an orange page until the navigation, then the loading page, perhaps below a
browser's toolbar. `find_viewport` finds the page in an early frame; `video_metrics` reads
thumbnails of that part. Differences from the convention of measured loads:
`docs/reference/metrics.md`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import dropwhile, pairwise

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from eyelevel.analysis.metrics.visual import (
    Picture,
    edges,
    histogram,
    index_from_first_change,
    luma,
    missing_area,
    progress_parts,
    shares_of_most,
    structural_similarity,
)

THUMBNAIL_PX = 400
"""The longer side of the thumbnails that are compared."""

VIEWPORT_PX_MIN = 100
"""The least viewport, as in Browsertime: a smaller area of one colour is a pointer or an image."""

VIEWPORT_TOLERANCE = 15
"""The largest distance of a page's pixel from the centre's, summed over three channels."""

MOBILE_TOP_PX, MOBILE_CUT_PX = 10, 14
"""Rows left out at the head of a phone's page, and in all: a bar there shows a load's progress."""

ORANGE_RGB = (222, 100, 13)
ORANGE_SIDE_PX = 200
ORANGE_SHARE_MIN = 0.75
"""The least share of orange before the navigation, in the page's middle, head or foot. Each of
these parts is scaled to a square of `ORANGE_SIDE_PX`."""

BEFORE_ORANGE_MAX = 20
"""The most frames before the first orange one: recorders begin white or black."""

START_FUZZ, CHANGE_FUZZ = 0.10, 0.15
"""Tolerances of a channel as shares of its range: at the start, where the image is blank, and at
the end, where lossy video blurs text."""

END_PIXELS_MAX = 5
"""The most pixels in which an image that is like the last one may differ from it."""

POINTER_SHARE = 0.05
"""The size of the middle part, in each dimension, that is ignored until the first change: a pointer
may rest there."""

EYELEVEL_CHANGE_MIN = 14
"""The largest change of a channel that lossy video was measured to make in an unchanged image; by
our own convention a frame with more counts."""

QUIET_MS_MIN = 500
"""A page that changed within this time of the video's end may have changed after it."""
REPEATS_MIN = 4
"""The number of changes after which a page that still changed at the end never settles, if no pause
between them was longer than the one before the end."""

_TOP, _RIGHT, _BOTTOM = 40, 10, 10
_RENDER_TOP, _RENDER_BOTTOM = 10, 24
"""Margins of a thumbnail that are not compared if the page fills the image: a clock or a scroll bar
there would count as a change. If the page was found below a toolbar, only the foot is left out."""


@dataclass(frozen=True, slots=True)
class Viewport:
    """The page's rectangle in the video, in pixels."""

    x: int
    y: int
    width: int
    height: int

    @property
    def is_plausible(self) -> bool:
        """Whether a page may be this small."""
        return min(self.width, self.height) > VIEWPORT_PX_MIN


@dataclass(frozen=True, slots=True)
class VideoMetrics:
    """The metrics of a video, in ms from the first frame that is not orange."""

    first_visual_change_ms: int | None
    last_visual_change_ms: int | None
    visual_complete_85_ms: int | None
    visual_complete_95_ms: int | None
    visual_complete_99_ms: int | None
    speed_index_ms: float | None
    perceptual_speed_index_ms: float | None
    contentful_speed_index_ms: float | None
    visual_progress: tuple[tuple[int, float], ...]
    """`(at_ms, percent)` of each counted frame; whole percent in Browsertime's convention."""
    settled: bool | None
    """Whether the page had settled when the video ended; otherwise the last change and Speed Index
    depend on the video's length. None: it never changed."""
    navigation_shown: bool
    """Whether orange ends at the navigation; otherwise times count from the first frame."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """Thumbnails of a video's page in the order of their times, near-duplicates left out."""

    frames: Sequence[tuple[int, Picture]]
    ended_ms: int
    """The time of the last frame, on the same clock."""
    is_cropped: bool
    """Whether the page was found within the image."""
    is_mobile: bool


def find_viewport(picture: Picture, is_mobile: bool = False) -> Viewport:
    """Return the area around the centre with the centre's colour, along both middle lines."""
    height, width, _ = picture.shape
    away = np.abs(picture.astype(np.int16) - picture[height // 2, width // 2]).sum(axis=2)
    alike = away <= VIEWPORT_TOLERANCE
    left, right = _run_around(alike[height // 2], width // 2)
    top, bottom = _run_around(alike[:, width // 2], height // 2)
    if is_mobile:
        top, bottom = top + MOBILE_TOP_PX, bottom - (MOBILE_CUT_PX - MOBILE_TOP_PX)
    return Viewport(left, top, right - left, bottom - top)


def video_metrics(recorded: Recorded, floored: bool = True) -> VideoMetrics:
    """Return the metrics of a video.

    `floored` is Browsertime's convention: whole percent, ignored margins and faint changes, edges
    counted one frame early. Otherwise every change counts wherever it is.
    """
    is_shown = _first_orange(recorded.frames) is not None
    visible = frames = without_orange(recorded.frames)
    if floored:
        frames = _without_repeats(_from_render_start(frames, recorded), recorded)
    else:
        frames = _changes(frames, EYELEVEL_CHANGE_MIN)
    start_ms = frames[0][0] if frames else 0
    kept = [(at_ms - start_ms, picture) for at_ms, picture in frames]
    if len(kept) < 2:
        return _empty_metrics(tuple((at_ms, 0) for at_ms, _ in kept), is_shown)
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
        settled=_is_settled(visible, recorded.ended_ms),
        navigation_shown=is_shown,
    )


def is_orange(picture: Picture) -> bool:
    """Return whether a thumbnail shows the page before the navigation."""
    height, width, _ = picture.shape
    left, wide, fifth = width // 4, width // 2, height // 5
    parts = ((height // 3, height // 3), (50, fifth), (height - fifth, fifth))
    return any(
        _orange_share(_cut(picture, top, tall, left, wide)) > ORANGE_SHARE_MIN
        for top, tall in parts
    )


def without_orange(frames: Sequence[tuple[int, Picture]]) -> Sequence[tuple[int, Picture]]:
    """Return the frames after the first orange ones, without orange ones at the end."""
    begin = _first_orange(frames) or 0
    rest = list(dropwhile(lambda frame: is_orange(frame[1]), frames[begin:]))
    return list(dropwhile(lambda frame: is_orange(frame[1]), reversed(rest)))[::-1]


def _first_orange(frames: Sequence[tuple[int, Picture]]) -> int | None:
    """Return the place of the first orange frame near the beginning."""
    first = enumerate(frames[: BEFORE_ORANGE_MAX + 1])
    return next((place for place, (_, picture) in first if is_orange(picture)), None)


def _from_render_start(
    frames: Sequence[tuple[int, Picture]], recorded: Recorded
) -> Sequence[tuple[int, Picture]]:
    """Return the first frame, and all frames from the first one that differs from it.

    A pointer in the middle does not count as a difference, and nor does orange that fades.
    """
    if len(frames) < 2:
        return frames
    first, begin = frames[0][1], _pointer_hidden(frames[0][1])
    seen = _select_area(first, recorded, _RENDER_TOP, _RENDER_BOTTOM)
    for place, (_, picture) in enumerate(frames[1:], 1):
        is_same = _is_alike(begin[seen], _pointer_hidden(picture)[seen], START_FUZZ, 0)
        if not (is_same or is_orange(picture)):
            return [frames[0], *frames[place:]]
    return frames[:1]


def _without_repeats(
    frames: Sequence[tuple[int, Picture]], recorded: Recorded
) -> Sequence[tuple[int, Picture]]:
    """Return the frames from the first that is not blank to the first that is like the last."""
    if len(frames) < 2:
        return frames
    blank, *rest = frames
    seen = _select_area(blank[1], recorded, _TOP, _BOTTOM)
    is_blank = [_is_alike(blank[1][seen], picture[seen], START_FUZZ, 0) for _, picture in rest]
    rest = rest[is_blank.index(False) :] if False in is_blank else []
    if len(rest) < 2:
        return [blank, *rest]
    last = rest[-1][1][seen]
    end = len(rest) - 1
    whole = [blank, *rest]
    end = len(whole) - 1
    while end > 0 and _is_alike(last, whole[end - 1][1][seen], CHANGE_FUZZ, END_PIXELS_MAX):
        end -= 1
    return whole[: end + 1]


def _changes(frames: Sequence[tuple[int, Picture]], least: float) -> Sequence[tuple[int, Picture]]:
    """Return the frames with a channel that differs by more than `least` from the previous one.

    The previous one is the last that was returned.
    """
    kept = list(frames[:1])
    for at_ms, picture in frames[1:]:
        away = np.abs(kept[-1][1].astype(np.int16) - picture)
        if (away > least).any():
            kept.append((at_ms, picture))
    return kept


def _is_settled(frames: Sequence[tuple[int, Picture]], ended_ms: int) -> bool:
    """Return whether the page, margins included, had stopped changing at the end.

    It must have been quiet for longer than between its last changes.
    """
    times_ms = [at_ms for at_ms, _ in _changes(frames, CHANGE_FUZZ * 255)[1:]]
    if not times_ms:
        return True
    quiet_ms = ended_ms - times_ms[-1]
    if quiet_ms < QUIET_MS_MIN:
        return False
    gaps = [after - before for before, after in pairwise(times_ms)][1 - REPEATS_MIN :]
    return len(gaps) < REPEATS_MIN - 1 or min(gaps) < quiet_ms


def _empty_metrics(progress: tuple[tuple[int, int], ...], navigation_shown: bool) -> VideoMetrics:
    none = dict.fromkeys((field.name for field in fields(VideoMetrics)), None)
    known = {"visual_progress": progress, "navigation_shown": navigation_shown}
    return VideoMetrics(**none | known)  # type: ignore[arg-type]


def _run_around(alike: NDArray[np.bool_], centre: int) -> tuple[int, int]:
    """Return the range of true values around `centre`; if it ends within the image, one less."""
    others = np.flatnonzero(~alike)
    before, after = others[others < centre], others[others > centre]
    return (int(before[-1]) + 1 if len(before) else 0), (
        int(after[0]) - 1 if len(after) else len(alike)
    )


def _cut(picture: Picture, top: int, tall: int, left: int, wide: int) -> Picture:
    height, width, _ = picture.shape
    top, left = min(height - 1, top), min(width - 1, left)
    return picture[top : min(height - 1, top + tall), left : min(width - 1, left + wide)]


def _orange_share(part: Picture) -> float:
    if not part.size:
        return 0.0
    square = (ORANGE_SIDE_PX, ORANGE_SIDE_PX)
    scaled = np.asarray(Image.fromarray(part).resize(square, Image.Resampling.LANCZOS))
    away = np.abs(scaled.astype(np.int16) - ORANGE_RGB)
    return float((away <= CHANGE_FUZZ * 255).all(axis=2).mean())


def _pointer_hidden(picture: Picture) -> Picture:
    height, width, _ = picture.shape
    tall, wide = int(height * POINTER_SHARE), int(width * POINTER_SHARE)
    top, left = int(height / 2 - tall / 2), int(width / 2 - wide / 2)
    copy = picture.copy()
    copy[top : top + tall, left : left + wide] = 255
    return copy


def _select_area(
    picture: Picture, recorded: Recorded, top: int, bottom: int
) -> tuple[slice, slice]:
    """Return the rows and columns to compare."""
    height, width, _ = picture.shape
    right = _RIGHT
    if recorded.is_cropped:
        top, right, bottom = 0, 0, 0 if recorded.is_mobile else bottom
    rows = slice(top, min(height - 1, top + max(height - top - bottom, 1)))
    return rows, slice(0, min(width - 1, max(width - right, 1)))


def _is_alike(one: Picture, other: Picture, fuzz: float, pixels_max: int) -> bool:
    away = np.abs(one.astype(np.int16) - other) > fuzz * 255
    return int(np.count_nonzero(away.any(axis=2))) <= pixels_max


def _similarities(kept: Sequence[tuple[int, Picture]]) -> list[float]:
    final = luma(kept[-1][1])
    return [structural_similarity(luma(picture), final) for _, picture in kept[1:]]


def _contents(kept: Sequence[tuple[int, Picture]]) -> list[float]:
    """Return the number of edges of each frame as a share of the largest."""
    counts = [int(edges(luma(picture)).sum()) for _, picture in kept[1:]]
    return shares_of_most(counts)
