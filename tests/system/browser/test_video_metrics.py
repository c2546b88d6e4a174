"""Visual metrics of recorded videos against what Browsertime 28.3 says of them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hang import HANG_S
from repository import ROOT

from eyelevel.errors import VideoError
from eyelevel.metrics.video import VideoMetrics, find_viewport, video_metrics
from eyelevel.pictures.video import read_video

VISUAL = ROOT.parent / "shared/data/visual"

REFERENCES = {
    "agency-1-original.mp4": "agency-1-vm-28.3.0.json",
    "synthetic.mp4": "synthetic.vm.json",
    "synthetic_ui.mp4": "synthetic_ui.vm.json",
}


def measured(video: str) -> tuple[VideoMetrics, dict]:
    if not VISUAL.is_dir():
        pytest.skip("../shared/data/visual is not there: no reference videos to compare with")
    frames, fills = read_video(VISUAL / video)
    return video_metrics(frames, masked=fills), json.loads(
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
    frames, _ = read_video(VISUAL / "synthetic.mp4")
    assert video_metrics(frames, masked=False).first_visual_change_ms == 500


def test_the_page_is_found_under_a_browser_bar():
    import numpy as np

    picture = np.full((300, 400, 3), (222, 100, 13), np.uint8)
    picture[:60] = 200
    viewport = find_viewport(picture)
    assert (viewport.x, viewport.y) == (0, 66)
    assert (viewport.width, viewport.height) == (400, 234)


def test_a_file_that_is_no_video_is_refused(tmp_path):
    file = tmp_path / "page.mp4"
    file.write_bytes(b"no video")
    with pytest.raises(VideoError, match=r"page\.mp4"):
        read_video(file)


def test_a_video_that_stays_orange_has_no_metrics():
    import numpy as np

    orange = np.full((225, 400, 3), (222, 100, 13), np.uint8)
    metrics = video_metrics([(0.0, orange), (33.3, orange)], masked=True)
    assert metrics.first_visual_change_ms is None
    assert metrics.speed_index_ms is None
    assert metrics.visual_progress == ()


def command(*arguments: str) -> dict:
    if not VISUAL.is_dir():
        pytest.skip("../shared/data/visual is not there: no reference videos to compare with")
    done = subprocess.run(
        [sys.executable, "-m", "eyelevel.cli.main", "metrics", "video", "--json", *arguments],
        capture_output=True,
        timeout=HANG_S,
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
    }
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
