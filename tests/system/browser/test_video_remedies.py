"""`metrics video` beside Browsertime's own script, on videos drawn for each of its remedies.

`scripts/test-peers` gets the script from npm; it is not shipped.
"""

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from counts import count
from drawn_videos import FPS, REMEDIES
from repository import ROOT
from timeouts import TEST_TIMEOUT_S

from eyelevel.analysis.metrics.video import VideoMetrics, video_metrics
from eyelevel.analysis.pictures.video import read_video

PEER = ROOT / "out" / "peers" / "visualmetrics-portable.py"
FRAME_MS = 1000 / FPS
SI_SHARE_MAX = 0.01
OPTIONS = (
    *("--orange", "--force", "--json", "--viewport", "--renderignore", "5"),
    *("--viewportretries", "60", "--viewportminheight", "100", "--viewportminwidth", "100"),
)
"""As Browsertime calls it."""

pytestmark = pytest.mark.counted


def of_browsertime(video: Path, folder: Path) -> dict:
    command = [sys.executable, str(PEER), "--video", str(video), "--dir", str(folder / "frames")]
    done = subprocess.run(
        [*command, *OPTIONS], capture_output=True, text=True, timeout=TEST_TIMEOUT_S
    )
    return json.loads(done.stdout.splitlines()[-1])


def assert_alike(ours: VideoMetrics, theirs: dict) -> None:
    changes = (theirs["FirstVisualChange"], theirs["LastVisualChange"])
    if ours.first_visual_change_ms is None:  # what never changed has a 0 there
        assert changes == (0, 0)
        return
    assert ours.first_visual_change_ms == pytest.approx(changes[0], abs=FRAME_MS)
    assert ours.last_visual_change_ms == pytest.approx(changes[1], abs=FRAME_MS)
    assert ours.speed_index_ms == pytest.approx(theirs["SpeedIndex"], rel=SI_SHARE_MAX, abs=1)


@pytest.mark.parametrize("seed", range(count(full=12, sample=1)))
@pytest.mark.parametrize("remedy", REMEDIES)
def test_both_say_the_same(remedy: str, seed: int, tmp_path: Path) -> None:
    if not PEER.exists() or shutil.which("ffmpeg") is None:
        pytest.skip("Browsertime's script or ffmpeg is not here: run scripts/test-peers")
    video = REMEDIES[remedy](random.Random(f"{remedy} {seed}")).write(tmp_path)
    assert_alike(video_metrics(read_video(video)), of_browsertime(video, tmp_path))
