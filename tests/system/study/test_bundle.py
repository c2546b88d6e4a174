"""A study handed on: run in one folder, repeated in another that has only its bundle."""

import json
import subprocess
from pathlib import Path

import pytest
from loads import COMMAND
from small_site import pack_small_site
from timeouts import TEST_TIMEOUT_S

from eyelevel.store.directory import list_committed

PLAN = """\
sites = ["recordings/"]
stacks = ["tcp+", { name = "again", base = "quic", visit = "repeat" }]
reference = "tcp+"
blocks = 1
[[networks]]
name = "traced"
base = "dsl"
trace_down = "traces/cell.down"
"""

pytestmark = pytest.mark.usefixtures("labs")


def eyelevel(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_a_bundled_study_is_repeated_elsewhere_from_the_bundle_alone(tmp_path: Path) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    for folder in (here / "recordings", here / "traces", elsewhere):
        folder.mkdir(parents=True)
    made = pack_small_site(tmp_path)
    made.rename(here / "recordings/www.example.org.wacz")
    (here / "traces/cell.down").write_text("".join(f"{at}\n" for at in range(1, 200, 2)))
    (here / "plan.toml").write_text(PLAN)
    assert eyelevel(here, "run", "plan.toml", "--out", "now").returncode == 0
    bundled = eyelevel(here, "bundle", "now", "--out", str(elsewhere / "study.bundle"))
    assert bundled.returncode == 0, bundled.stderr
    first = list_committed(here / "now")
    here.rename(tmp_path / "gone")

    done = eyelevel(elsewhere, "rerun", "study.bundle", "--out", "both", "--json")
    said = json.loads(done.stdout)
    assert list_committed(elsewhere / "both/again") == first and len(first) == 2
    # One block shows no spread: nothing can be told, which is no pass.
    assert done.returncode == 3 and {each["status"] for each in said["verdicts"]} == {"cannot tell"}
    assert said["differences"] == []
