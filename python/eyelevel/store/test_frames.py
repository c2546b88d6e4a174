import io

import numpy as np
import pytest
from PIL import Image

from eyelevel.store.errors import StoreError
from eyelevel.store.frames import Frame, frames_to_bytes, picture_indices, read_frames


def png(colour: tuple[int, int, int]) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 6), colour).save(buffer, "PNG")
    return buffer.getvalue()


RED, WHITE = png((255, 0, 0)), png((255, 255, 255))
FRAMES = [Frame(0.0, WHITE), Frame(16.625, RED), Frame(33.25, WHITE)]


def test_frames_come_back_byte_for_byte(tmp_path):
    (tmp_path / "frames.npz").write_bytes(frames_to_bytes(FRAMES))
    assert read_frames(tmp_path / "frames.npz") == FRAMES


def test_equal_pictures_are_kept_once():
    assert picture_indices(FRAMES) == [0, 1, 0]
    assert len(frames_to_bytes(FRAMES * 100)) < 2 * len(frames_to_bytes(FRAMES)) + 100 * 3 * 16


def test_the_same_frames_give_the_same_file():
    assert frames_to_bytes(FRAMES) == frames_to_bytes(FRAMES)


def test_a_frame_decodes_to_height_width_and_channels():
    assert FRAMES[1].rgb().shape == (6, 8, 3)
    assert np.all(FRAMES[1].rgb() == [255, 0, 0])


def test_no_file_means_no_frames(tmp_path):
    assert read_frames(tmp_path / "frames.npz") == []


@pytest.mark.parametrize("keep", [0, 10, 300])
def test_a_truncated_file_is_refused_by_name(tmp_path, keep):
    file = tmp_path / "frames.npz"
    file.write_bytes(frames_to_bytes(FRAMES)[:keep])
    with pytest.raises(StoreError, match=r"frames\.npz: damaged"):
        read_frames(file)
