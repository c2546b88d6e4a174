"""A load's video and pictures show each frame at its moment."""

import itertools

import numpy as np
import pytest
from PIL import Image

from eyelevel.analysis.export.pictures import strip_times_ms, write_filmstrip, write_video
from eyelevel.analysis.pictures.video import read_video
from eyelevel.base.errors import ExportError
from eyelevel.store.frames import Frame, Frames


def frames() -> Frames:
    """White, red from 350 ms on, blue from 900 ms on."""
    colours = ((0.0, (255, 255, 255)), (350.0, (200, 0, 0)), (900.0, (0, 0, 200)))
    return Frames.of(
        [Frame(at_ms, np.full((90, 160, 3), colour, np.uint8)) for at_ms, colour in colours]
    )


def test_the_video_changes_when_the_page_did(tmp_path):
    write_video(frames(), "site network stack", tmp_path / "load.mp4")
    read = read_video(tmp_path / "load.mp4", cropped=False)
    seen = [(at_ms, picture[60, 200].astype(int)) for at_ms, picture in read.frames]
    changes = [
        after_ms
        for (_, before), (after_ms, after) in itertools.pairwise(seen)
        if np.abs(after - before).max() > 100
    ]
    assert changes == pytest.approx([350, 900], abs=1000 / 60 + 1)
    assert not list(tmp_path.glob(".*"))


def test_each_picture_is_a_file_without_loss(tmp_path):
    write_filmstrip(frames(), "quic", tmp_path / "load")
    names = sorted(each.name for each in (tmp_path / "load").iterdir())
    assert names == ["000000.png", "000350.png", "000900.png", "strip.png"]
    with Image.open(tmp_path / "load" / "000350.png") as image:
        assert np.array_equal(np.asarray(image), frames().at([400.0])[0].picture)


def test_the_strip_has_even_times_and_ends_after_the_last_change():
    assert strip_times_ms(900) == [100.0 * number for number in range(10)]
    assert strip_times_ms(0) == [0.0]
    assert strip_times_ms(901)[-1] == 1000
    assert len(strip_times_ms(170_000)) <= 12


def test_a_load_without_frames_is_refused(tmp_path):
    with pytest.raises(ExportError, match="no frames"):
        write_video(Frames.of([]), "", tmp_path / "load.mp4")
    assert not list(tmp_path.iterdir())
