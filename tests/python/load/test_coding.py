import io

import numpy as np
import pytest
from PIL import Image

from eyelevel.base.errors import BrowserMessageError
from eyelevel.browser.observations import Frame, RawLoad
from eyelevel.load.coding import coding


def picture(shade: int) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (64, 36), (shade, shade, 0)).save(stream, "PNG")
    return stream.getvalue()


def test_what_is_kept_of_a_loads_pictures():
    shades = (10, 10, 200)  # of equal neighbours the first is kept
    seen = tuple(Frame(100.0 * n, picture(shade)) for n, shade in enumerate(shades))
    with coding() as pictures:
        pictures.begin(RawLoad("complete", "", frames=seen))
        kept = pictures.result()
    assert kept.frames.at_ms == (0.0, 200.0) and kept.steps == ()
    assert [int(frame.picture[0, 0, 0]) for frame in kept.frames] == [10, 200]
    assert kept.final is not None
    assert set(np.frombuffer(bytes.fromhex(kept.final), np.uint8)) == {177}  # 200 * 0.886


def test_a_trial_without_a_load_has_no_pictures():
    with coding() as pictures:
        kept = pictures.result()
    assert len(kept.frames) == 0 and kept.steps == () and kept.final is None


def test_a_damaged_picture_is_told_to_whoever_asks():
    with coding() as pictures:
        pictures.begin(RawLoad("complete", "", frames=(Frame(0.0, b"no picture"),)))
        with pytest.raises(BrowserMessageError, match="a frame is no picture"):
            pictures.result()


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (("ok", ""), ("capture-incomplete", "a frame is no picture")),
        (("page-timeout", "why"), ("page-timeout", "why")),
    ],
)
def test_a_load_without_its_pictures_is_not_good(outcome, expected):
    with coding() as pictures:
        pictures.begin(RawLoad("complete", "", frames=(Frame(0.0, b"no picture"),)))
        found, judged, detail = pictures.judged(*outcome)
    assert found.final is None and judged == expected[0] and expected[1] in detail
