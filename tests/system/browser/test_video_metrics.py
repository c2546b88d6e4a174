"""Visual metrics of recorded videos against what Browsertime 28.3 says of them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from repository import ROOT
from timeouts import TEST_TIMEOUT_S

from eyelevel.analysis.metrics.video import Recorded, VideoMetrics, find_viewport, video_metrics
from eyelevel.analysis.pictures.video import read_video
from eyelevel.base.errors import VideoError

VISUAL = ROOT.parent / "shared/data/visual"

REFERENCES = {
    "agency-1-original.mp4": "agency-1-vm-28.3.0.json",
    "synthetic.mp4": "synthetic.vm.json",
    "synthetic_ui.mp4": "synthetic_ui.vm.json",
}


def measured(video: str) -> tuple[VideoMetrics, dict]:
    if not VISUAL.is_dir():
        pytest.skip("../shared/data/visual is not there: no reference videos to compare with")
    return video_metrics(read_video(VISUAL / video)), json.loads(
        (VISUAL / REFERENCES[video]).read_text(encoding="utf-8")
    )


def reference_complete(reference: dict, percent: int) -> int:
    points = [point.split("=") for point in reference["VisualProgress"].split(", ")]
    return next(int(at) for at, reached in points if int(reached) >= percent)


@pytest.mark.parametrize("video", REFERENCES)
def test_changes_and_completeness_are_equal(video):
    metrics, reference = measured(video)
    assert metrics.first_visual_change_ms == reference["FirstVisualChange"]
    assert metrics.last_visual_change_ms == reference["LastVisualChange"]
    assert metrics.visual_complete_85_ms == reference_complete(reference, 85)
    assert metrics.visual_complete_95_ms == reference_complete(reference, 95)
    assert metrics.visual_complete_99_ms == reference_complete(reference, 99)


@pytest.mark.parametrize("video", REFERENCES)
def test_indices_agree(video):
    metrics, reference = measured(video)
    assert metrics.speed_index_ms == pytest.approx(reference["SpeedIndex"], rel=0.01)
    assert metrics.perceptual_speed_index_ms == pytest.approx(
        reference["PerceptualSpeedIndex"], rel=0.03
    )
    assert metrics.contentful_speed_index_ms == pytest.approx(
        reference["ContentfulSpeedIndex"], rel=0.03
    )


def test_nothing_masked_finds_the_true_first_change():
    if not VISUAL.is_dir():
        pytest.skip("../shared/data/visual is not there: no reference videos to compare with")
    whole = read_video(VISUAL / "synthetic.mp4", cropped=False)
    assert video_metrics(whole, floored=False).first_visual_change_ms == 500


def test_the_page_is_found_under_a_browser_bar():
    import numpy as np

    picture = np.full((300, 400, 3), (222, 100, 13), np.uint8)
    picture[:60] = 200
    viewport = find_viewport(picture)
    assert (viewport.x, viewport.y) == (0, 60)
    assert (viewport.width, viewport.height) == (400, 240)
    assert viewport.is_plausible
    picture[140:160, 190:210] = 7
    assert not find_viewport(picture).is_plausible


def test_a_file_that_is_no_video_is_refused(tmp_path):
    file = tmp_path / "page.mp4"
    file.write_bytes(b"no video")
    with pytest.raises(VideoError, match=r"page\.mp4"):
        read_video(file)


def test_a_video_that_stays_orange_has_no_metrics():
    import numpy as np

    orange = np.full((225, 400, 3), (222, 100, 13), np.uint8)
    frames = [(0, orange), (33, orange)]
    metrics = video_metrics(Recorded(frames, 33, is_cropped=False, is_mobile=False))
    assert metrics.first_visual_change_ms is None
    assert metrics.speed_index_ms is None
    assert metrics.visual_progress == ()


def command(*arguments: str) -> dict:
    if not VISUAL.is_dir():
        pytest.skip("../shared/data/visual is not there: no reference videos to compare with")
    done = subprocess.run(
        [sys.executable, "-m", "eyelevel.cli.main", "metrics", "video", "--json", *arguments],
        capture_output=True,
        timeout=TEST_TIMEOUT_S,
        check=True,
    )
    return json.loads(done.stdout)


def test_the_command_prints_the_reference_values():
    found = command(str(VISUAL / "synthetic_ui.mp4"))
    assert set(found) == {
        "first_visual_change_ms",
        "last_visual_change_ms",
        "visual_complete_85_ms",
        "speed_index_ms",
        "perceptual_speed_index_ms",
        "contentful_speed_index_ms",
        "visual_progress",
        "settled",
        "navigation_shown",
    }
    assert found["navigation_shown"]
    assert found["first_visual_change_ms"] == 500
    assert found["visual_progress"] == [[0, 0], [500, 23], [1000, 60], [2000, 98], [3000, 100]]


def test_our_own_convention_sees_the_head_of_the_page():
    found = command(str(VISUAL / "synthetic.mp4"), "--convention", "eyelevel")
    assert found["first_visual_change_ms"] == 500
    assert found["last_visual_change_ms"] == 3000


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("page.mp4", None, "reading page.mp4: there is no such file"),
        ("-page.mp4", b"text", r"reading [^ ]*/-page.mp4: Invalid data found[^:]*; give a whole"),
    ],
)
def test_what_is_no_video_is_said_once(tmp_path, monkeypatch, name, content, expected):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(VideoError, match=expected):
        read_video(Path(name))


CASES = ROOT.parent / "shared/cases/networks"


def of_case(name: str, convention: str = "browsertime") -> dict:
    if not CASES.is_dir():
        pytest.skip("../shared/cases is not there: no videos of other people's trouble")
    return command(str(CASES / name), "--convention", convention)


@pytest.mark.parametrize(
    "name",
    [
        *("35/white_then_orange.mkv", "35/black_then_orange.mkv", "35/strip40.mkv"),
        *("35/prevpage_then_orange.mkv", "37/mouse_centre.mkv", "31/cut_copy.mp4"),
        *("31/raw.h264", "31/h264_bframes.avi", "33/tiny.mkv", "36/dark.mkv"),
    ],
)
def test_videos_of_other_peoples_trouble_have_their_true_times(name: str) -> None:
    found = of_case(name)
    times = (found["first_visual_change_ms"], found["last_visual_change_ms"])
    assert times == (500, 1500)
    assert found["speed_index_ms"] == pytest.approx(1000, rel=0.025)
    assert found["settled"]


@pytest.mark.parametrize("name", ["36/faint.mkv", "36/dark_text.mkv"])
def test_our_own_convention_sees_what_is_faint(name: str) -> None:
    assert of_case(name)["first_visual_change_ms"] is None, "Browsertime sees none of it either"
    found = of_case(name, "eyelevel")
    times = (found["first_visual_change_ms"], found["last_visual_change_ms"])
    assert times == (500, 1500) and found["settled"]


def test_a_page_that_never_settles_is_marked() -> None:
    assert of_case("37/carousel.mkv")["settled"] is False


def shown(times_ms: list[int], ended_ms: int) -> VideoMetrics:
    """A page of stripes, of which another one appears at each of these times."""
    import numpy as np

    picture = np.full((200, 200, 3), 255, np.uint8)
    frames = [(0, picture)]
    for place, at_ms in enumerate(times_ms):
        picture = picture.copy()
        picture[60 + 10 * place : 68 + 10 * place, 20:150] = 40
        frames.append((at_ms, picture))
    return video_metrics(Recorded(frames, ended_ms, is_cropped=False, is_mobile=False))


@pytest.mark.parametrize(
    ("times_ms", "ended_ms", "settled"),
    [
        ([500, 1500], 3000, True),
        ([500, 1500], 1700, False),
        ([500, 5000], 5600, True),
        ([500, 1500, 2500, 3500, 4500], 5400, False),
        ([500, 1500, 2500, 3500, 4500], 6000, True),
        ([100, 200, 300, 3000], 3600, True),
    ],
)
def test_a_page_has_settled_once_it_is_quiet_for_longer_than_between_changes(
    times_ms: list[int], ended_ms: int, settled: bool
) -> None:
    assert shown(times_ms, ended_ms).settled is settled


def test_a_video_without_orange_is_marked(tmp_path: Path) -> None:
    import random

    from drawn_videos import ORANGE_FRAMES, Drawn, page

    assert not shown([500, 1500], 3000).navigation_shown
    frames = page(random.Random(1))
    for first, is_shown in ((0, True), (ORANGE_FRAMES - 1, True), (ORANGE_FRAMES, False)):
        file = Drawn(frames[first:]).write(tmp_path)
        done = subprocess.run(
            [sys.executable, "-m", "eyelevel.cli.main", "metrics", "video", str(file)],
            capture_output=True,
            timeout=TEST_TIMEOUT_S,
            check=True,
        )
        assert (b"no frame is orange" in done.stdout) is not is_shown


def test_a_picture_without_a_page_is_refused(tmp_path: Path) -> None:
    import random

    import numpy as np
    from drawn_videos import Drawn

    noise = np.random.default_rng(random.Random(6).getrandbits(32))
    frames = noise.integers(0, 255, (6, 240, 320, 3), np.uint8)
    with pytest.raises(VideoError, match=r"finding the page .* --convention eyelevel"):
        read_video(Drawn(frames).write(tmp_path))
    assert len(read_video(tmp_path / "video.mkv", cropped=False).frames) == 6


def test_a_turned_video_is_read_as_it_is_shown(tmp_path: Path) -> None:
    import random

    from drawn_videos import Drawn, page

    codec = ("-c:v", "libx264", "-pix_fmt", "yuv420p")
    drawn = Drawn(page(random.Random(3), size=(240, 400)), codec, ".mp4").write(tmp_path)
    turned = tmp_path / "turned.mp4"
    copy = ["ffmpeg", "-v", "error", "-i", str(drawn), "-c", "copy", "-metadata:s:v", "rotate=90"]
    subprocess.run([*copy, str(turned)], check=True, timeout=TEST_TIMEOUT_S)
    sizes = [read_video(file).frames[0][1].shape[:2] for file in (drawn, turned)]
    assert sizes == [(400, 240), (240, 400)]
