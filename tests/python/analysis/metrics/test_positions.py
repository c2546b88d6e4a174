"""The indices that compare positions, and the short way in which they are computed."""

import numpy as np
import pytest

from eyelevel.analysis.metrics.visual import EDGE_REACH_PIXELS as REACH_PIXELS
from eyelevel.analysis.metrics.visual import REACH_PIXELS as SIMILAR_REACH_PIXELS
from eyelevel.analysis.metrics.visual import (
    contentful_speed_index,
    edges,
    luma,
    map_of_each,
    perceptual_speed_index,
    similarity_map,
    small_brightness,
    thin_gradient,
    visual_history,
    visual_progress,
)


def page(*boxes: tuple[slice, slice]) -> np.ndarray:
    """White, 180 x 320, with black boxes."""
    picture = np.full((180, 320, 3), 255, np.uint8)
    for rows, columns in boxes:
        picture[rows, columns] = 0
    return picture


LEFT = (slice(40, 80), slice(20, 100))
RIGHT = (slice(40, 80), slice(200, 280))


def test_what_moves_is_seen_by_position_and_not_by_colour():
    history = visual_history([(0.0, page()), (100.0, page(LEFT)), (300.0, page(RIGHT))])
    assert visual_progress(history)[1] == (100.0, 1.0)
    assert 100 < perceptual_speed_index(history) < 300
    # Both pictures have the same edges.
    assert contentful_speed_index(history) == pytest.approx(100, abs=2)


def test_the_whole_picture_at_once_has_the_indices_of_its_moment():
    history = visual_history([(0.0, page()), (250.0, page(LEFT, RIGHT))])
    assert perceptual_speed_index(history) == 250
    assert contentful_speed_index(history) == 250


def test_half_of_the_edges_first():
    history = visual_history([(0.0, page()), (100.0, page(LEFT)), (300.0, page(LEFT, RIGHT))])
    assert contentful_speed_index(history) == pytest.approx(100 + 200 * 0.5, abs=1)


def test_the_box_that_changed_is_enough():
    generator = np.random.default_rng(20261121)
    picture = generator.integers(0, 256, (120, 64), dtype=np.uint8)
    pictures = [picture]
    for _ in range(30):
        first = int(generator.integers(0, 119))
        last = int(generator.integers(first + 1, min(first + 40, 120) + 1))
        left = int(generator.integers(0, 63))
        right = int(generator.integers(left + 1, 65))
        picture = picture.copy()
        changed = generator.integers(0, 256, (last - first, right - left), dtype=np.uint8)
        picture[first:last, left:right] = changed
        pictures.append(picture)
    final = pictures[-1].astype(float)
    similar = map_of_each(
        pictures, lambda part, box: similarity_map(part, final[box]), SIMILAR_REACH_PIXELS
    )
    for found, each in zip(similar, pictures, strict=True):
        np.testing.assert_allclose(found, similarity_map(each.astype(float), final), atol=1e-9)
    gradients = map_of_each(pictures, lambda part, box: thin_gradient(part), REACH_PIXELS)
    for found, each in zip(gradients, pictures, strict=True):
        np.testing.assert_allclose(found, thin_gradient(each.astype(float)), atol=1e-9)


def test_a_small_picture_is_the_mean_brightness_of_blocks():
    generator = np.random.default_rng(3)
    picture = generator.integers(0, 256, (361, 641, 3), dtype=np.uint8)
    blocks = luma(picture[:360, :640]).reshape(180, 2, 320, 2).mean(axis=(1, 3))
    assert np.abs(small_brightness(picture) - blocks).max() <= 1


def test_edges_run_around_a_box():
    found = edges(luma(page(LEFT)))
    rows, columns = np.nonzero(found)
    assert abs(int(found.sum()) - 2 * (40 + 80)) <= 8
    assert abs(rows.min() - 40) <= 1 and abs(columns.max() - 99) <= 1
