"""Structural similarity and edges on drawn pictures."""

import numpy as np
import pytest

from eyelevel.analysis.metrics.visual import edges, luma, structural_similarity

GENERATOR = np.random.default_rng(7)


def test_equal_pictures_are_wholly_similar():
    picture = GENERATOR.uniform(0, 255, (60, 80))
    assert structural_similarity(picture, picture) == pytest.approx(1.0)


def test_noise_of_the_same_kind_is_dissimilar():
    first, second = GENERATOR.uniform(0, 255, (2, 60, 80))
    assert structural_similarity(first, second) < 0.1


def test_two_flat_pictures_compare_by_brightness_alone():
    # Without contrast only the first factor of the paper's equation 13 is left.
    first, second = np.full((30, 30), 100.0), np.full((30, 30), 200.0)
    constant = (0.01 * 255) ** 2
    expected = (2 * 100 * 200 + constant) / (100**2 + 200**2 + constant)
    assert structural_similarity(first, second) == pytest.approx(expected)


def test_luma_of_white_is_the_whole_range():
    assert luma(np.full((2, 2, 3), 255, np.uint8)) == pytest.approx(np.full((2, 2), 255.0))


def test_a_rectangle_has_its_outline():
    picture = np.full((60, 80), 255.0)
    picture[20:40, 10:50] = 0
    found = edges(picture)
    outline = 2 * (20 + 40)
    assert outline * 0.8 <= found.sum() <= outline * 2.2
    assert not found[25:35, 15:45].any()
    assert not found[:15].any()


def test_a_flat_picture_has_none():
    assert not edges(np.full((30, 30), 128.0)).any()


def test_a_weak_edge_counts_where_it_touches_a_strong_one():
    # A vertical step whose height fades from 90 to 30 grey levels, and a lone step of 30.
    connected = np.zeros((60, 60))
    connected[:, 30:] = np.linspace(90, 30, 60)[:, np.newaxis]
    alone = np.zeros((60, 60))
    alone[:, 30:] = 30
    assert edges(connected)[40:, 28:32].any()
    assert not edges(alone).any()
