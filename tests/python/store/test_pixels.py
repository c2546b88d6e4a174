import numpy as np

from eyelevel.store.pictures import any_channel, mask_other_colours


def test_a_pixel_is_true_where_one_of_its_channels_is():
    flags = np.random.default_rng(2).random((7, 11, 3)) < 0.3
    assert np.array_equal(any_channel(flags), flags.any(axis=2))
    assert np.array_equal(any_channel(flags[1:5, 2:9]), flags[1:5, 2:9].any(axis=2))


def test_pixels_unlike_a_colour():
    picture = np.random.default_rng(3).integers(0, 2, (6, 5, 3)).astype(np.uint8)
    assert np.array_equal(
        mask_other_colours(picture, (1, 0, 1)), (picture != (1, 0, 1)).any(axis=2)
    )
