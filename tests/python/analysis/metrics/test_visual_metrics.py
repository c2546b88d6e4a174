"""Visual metrics of drawn frames with known times."""

import math

import numpy as np
import pytest
from sample_record import sample_navigation

from eyelevel.analysis.metrics.catalogue import METRICS, compute_metrics
from eyelevel.analysis.metrics.visual import (
    STEPS_MAX,
    histogram,
    missing_area,
    thin_progress,
    visual_history,
    visual_progress,
)

NO_TIMINGS = {
    "navigation": sample_navigation(None),
    "objects": [],
    "connections": [],
    "requests": [],
}


def page(*parts: tuple[slice, tuple[int, int, int]]) -> np.ndarray:
    """A white picture of 100 rows whose rows were painted."""
    picture = np.full((100, 40, 3), 255, np.uint8)
    for rows, colour in parts:
        picture[rows] = colour
    return picture


HEAD = (slice(0, 20), (20, 20, 60))
BODY = (slice(20, 90), (200, 40, 40))
FOOT = (slice(90, 100), (10, 120, 10))
FRAMES = [
    (0.0, page()),
    (500.0, page(HEAD)),
    (1000.0, page(HEAD, BODY)),
    (2000.0, page(HEAD, BODY, FOOT)),
]


def test_known_times():
    metrics = compute_metrics(FRAMES, NO_TIMINGS)
    assert metrics["first_visual_change_ms"] == 500
    assert metrics["last_visual_change_ms"] == 2000
    assert metrics["visual_complete_85_ms"] == 1000
    assert metrics["visual_complete_95_ms"] == 2000
    assert metrics["visual_complete_99_ms"] == 2000


def test_speed_index_is_the_missing_area():
    # 500 ms of nothing, 500 ms with 20 of 100 rows, 1000 ms with 90 of them.
    expected = 500 + 500 * 0.8 + 1000 * 0.1
    assert compute_metrics(FRAMES, NO_TIMINGS)["speed_index_ms"] == pytest.approx(expected)


def test_progress_is_the_painted_share():
    progress = visual_progress(visual_history(FRAMES))
    assert progress == [(0.0, 0.0), (500.0, 0.2), (1000.0, 0.9), (2000.0, 1.0)]


def test_a_curve_has_every_step_that_is_seen():
    assert thin_progress(visual_history(FRAMES)) == tuple(visual_progress(visual_history(FRAMES)))
    assert thin_progress(visual_history([(0.0, page()), (9.0, page())])) == ()


def test_what_moves_on_and_on_is_drawn_within_what_is_left_out():
    frames = [(0.0, page())]
    for row in range(1, 4 * 60):  # one pixel of a row after the other
        picture = page((slice(0, 10), (0, 0, 0)))
        picture[10 + row // 40, : row % 40] = 40
        frames.append((10.0 * row, picture))
    frames.append((5000.0, page(HEAD, BODY, FOOT)))
    history = visual_history(frames)
    curve = thin_progress(history)
    assert len(curve) <= STEPS_MAX < len(history.at_ms) - 100
    assert curve[0] == (0.0, 0.0) and curve[-1] == (5000.0, 1.0)
    exact = missing_area(visual_progress(history))
    assert missing_area(curve) == pytest.approx(exact, abs=0.005 * 5000)


def test_a_curve_that_goes_up_and_down_is_bounded():
    blink = [page((slice(0, 20 + 60 * (n % 2)), (0, 0, 0))) for n in range(300)]
    frames = [(0.0, page()), *((10.0 * n + 10, each) for n, each in enumerate(blink))]
    curve = thin_progress(visual_history(frames))
    assert 2 <= len(curve) <= STEPS_MAX


def test_a_threshold_is_reached_exactly():
    frames = [
        (0.0, page()),
        (10.0, page((slice(0, 85), (0, 0, 0)))),
        (20.0, page((slice(0, 100), (0, 0, 0)))),
    ]
    assert compute_metrics(frames, NO_TIMINGS)["visual_complete_85_ms"] == 10


def test_one_faint_pixel_is_a_change():
    faint = page()
    faint[50, 20] = (255, 255, 254)
    frames = [(0.0, page()), (33.0, faint), (40.0, page(BODY))]
    assert compute_metrics(frames, NO_TIMINGS)["first_visual_change_ms"] == 33


def test_equal_frames_are_no_change():
    frames = [*FRAMES, (9000.0, page(HEAD, BODY, FOOT))]
    assert compute_metrics(frames, NO_TIMINGS)["last_visual_change_ms"] == 2000


def test_a_page_that_never_paints_has_no_visual_metric():
    names = [metric.name for metric in METRICS]
    visual = [name for name in names if "visual" in name or "speed_index" in name]
    assert len(visual) == 8
    for frames in ([(0.0, page()), (100.0, page())], []):
        metrics = compute_metrics(frames, NO_TIMINGS)
        assert {metrics[name] for name in visual} == {None}


def test_colours_that_do_not_tell_leave_progress_to_the_last_change():
    near_white = page((slice(0, 50), (252, 252, 252)))
    metrics = compute_metrics([(0.0, page()), (70.0, near_white)], NO_TIMINGS)
    assert metrics["speed_index_ms"] == 70
    assert metrics["visual_complete_85_ms"] == 70


def test_a_dark_start_state_counts_what_leaves_it():
    dark = np.zeros((100, 40, 3), np.uint8)
    half = dark.copy()
    half[:50] = (90, 90, 90)
    whole = np.full_like(dark, 90)
    metrics = compute_metrics([(0.0, dark), (100.0, half), (300.0, whole)], NO_TIMINGS)
    assert metrics["speed_index_ms"] == pytest.approx(100 + 200 * 0.5)


def test_frames_of_two_sizes_are_refused():
    with pytest.raises(ValueError, match="keep the viewport fixed"):
        visual_history([(0.0, page()), (1.0, page()[:50])])


def test_frames_out_of_order_are_refused():
    with pytest.raises(ValueError, match="sort them"):
        visual_history([(5.0, page()), (1.0, page(HEAD))])


def test_browser_timings_come_from_the_record():
    navigation = sample_navigation(
        812.5, time_to_first_byte_ms=61.0, first_contentful_paint_ms=None
    )
    metrics = compute_metrics(FRAMES, NO_TIMINGS | {"navigation": navigation})
    assert metrics["page_load_time_ms"] == 812.5
    assert metrics["time_to_first_byte_ms"] == 61.0
    assert metrics["first_contentful_paint_ms"] is None


def test_speed_index_lies_between_first_and_last_change():
    generator = np.random.default_rng(20261121)
    for _ in range(50):
        times = np.sort(generator.uniform(1, 5000, 6))
        rows = np.sort(generator.integers(1, 100, 6))
        frames = [(0.0, page())]
        frames += [
            (float(at), page((slice(0, int(row)), (9, 99, 199))))
            for at, row in zip(times, rows, strict=True)
        ]
        metrics = compute_metrics(frames, NO_TIMINGS)
        first, last = metrics["first_visual_change_ms"], metrics["last_visual_change_ms"]
        assert first <= metrics["speed_index_ms"] + 1e-9
        assert metrics["speed_index_ms"] <= last + 1e-9
        assert not math.isnan(metrics["speed_index_ms"])


def test_counting_only_changed_rows_gives_each_frames_own_histogram():
    generator = np.random.default_rng(5)
    picture = generator.integers(0, 256, (60, 30, 3), dtype=np.uint8)
    frames = [(0.0, picture)]
    for number in range(1, 30):
        picture = picture.copy()
        top, left = generator.integers(0, 50), generator.integers(0, 20)
        picture[top : top + 10, left : left + 10] = generator.integers(0, 256, 3)
        frames.append((float(number), picture))
    history = visual_history(frames)
    for counted, (_, whole) in zip(history.histograms, frames, strict=True):
        assert np.array_equal(counted, histogram(whole))
