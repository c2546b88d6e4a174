import numpy as np
import pytest

from eyelevel.analysis.metrics import visual
from eyelevel.analysis.metrics.visual import (
    find_changed_boxes,
    histogram,
    small_brightness,
    visual_history,
)

SEED = 5


def spans(boxes):
    return [(rows.start, rows.stop, columns.start, columns.stop) for rows, columns in boxes]


def test_changes_that_are_far_apart_have_a_box_each():
    before = np.zeros((60, 80, 3), np.uint8)
    after = before.copy()
    after[2:4, 5:9, 2] = 1
    after[2, 40, 0] = 1
    after[50, 79, 1] = 1
    assert spans(find_changed_boxes(before, after, 10)) == [
        (2, 4, 5, 9), (2, 4, 40, 41), (50, 51, 79, 80),
    ]  # fmt: skip
    assert spans(find_changed_boxes(before, after, 100)) == [(2, 51, 5, 80)]


def test_gaps_up_to_the_one_given_are_bridged():
    before, after = np.zeros((1, 9)), np.zeros((1, 9))
    after[0, [0, 4]] = 1
    assert spans(find_changed_boxes(before, after, 3)) == [(0, 1, 0, 5)]
    assert spans(find_changed_boxes(before, after, 2)) == [(0, 1, 0, 1), (0, 1, 4, 5)]


def test_equal_pictures_have_none_and_many_changes_one_box():
    picture = np.zeros((90, 90), np.uint8)
    assert find_changed_boxes(picture, picture.copy(), 3) == []
    dotted = picture.copy()
    dotted[::30, ::30] = 1
    assert spans(find_changed_boxes(picture, dotted, 3)) == [(0, 61, 0, 61)]
    assert visual.BOXES_MAX < 9


@pytest.mark.parametrize("size", [(60, 700), (37, 643), (20, 30)])
def test_what_is_counted_of_changes_alone_is_what_the_whole_picture_has(size):
    generator = np.random.default_rng(SEED)
    pictures = [generator.integers(240, 256, (*size, 3)).astype(np.uint8)]
    for _ in range(20):
        picture = pictures[-1].copy()
        top, left = (int(generator.integers(0, length)) for length in size)
        part = picture[top : top + 9, left : left + 31]
        part[:] = generator.integers(0, 256, part.shape)
        pictures.append(picture)
    history = visual_history([(float(at), each) for at, each in enumerate(pictures)])
    for counts, grey, picture in zip(history.histograms, history.brightness, pictures, strict=True):
        assert np.array_equal(counts, histogram(picture)), f"seed {SEED}"
        assert np.array_equal(grey, small_brightness(picture)), f"seed {SEED}"
