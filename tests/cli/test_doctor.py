"""`doctor` of a machine that could be better: a warning is said, and a run would still work."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from timeouts import TEST_TIMEOUT_S

from eyelevel.cli import doctor
from eyelevel.lab.confinement import UNSAFE_VARIABLE

COMMAND = (sys.executable, "-m", "eyelevel.cli.main", "doctor")
PEERS = ("Xvfb", "certutil", "ffmpeg")


@pytest.fixture
def poor(tmp_path: Path) -> dict[str, str]:
    """An environment in which browsers go without a sandbox, and Firefox has nothing beside it."""
    for folder in map(Path, os.environ["PATH"].split(os.pathsep)):
        for program in folder.glob("*"):
            link = tmp_path / program.name
            if program.name not in PEERS and not link.is_symlink():
                link.symlink_to(program)
    return {**os.environ, "PATH": str(tmp_path), UNSAFE_VARIABLE: "1", "COLUMNS": "80"}


def examined(environment: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """On one core, as `taskset` gives it."""
    core = min(os.sched_getaffinity(0))
    return subprocess.run(
        [*COMMAND, *options],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
        env=environment,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )


def test_what_a_run_can_do_without_is_a_warning(poor: dict[str, str]):
    done = examined(poor, "--json")
    states = {each["name"]: each["state"] for each in json.loads(done.stdout)}
    expected = ("the browser's sandbox", "cores", "Firefox")
    assert {name: states[name] for name in expected} == dict.fromkeys(expected, "warning")
    assert done.returncode == int("missing" in states.values())


def test_people_read_the_warning_and_below_the_table_what_to_do(poor: dict[str, str]):
    said = examined(poor).stdout
    assert "warning  cores" in said
    assert max(map(len, said.partition("What to do:")[0].splitlines())) <= 80
    todo = said.partition("What to do:\n")[2].splitlines()
    assert f"  the browser's sandbox: unset {UNSAFE_VARIABLE}" in todo
    packages = "apt-get install xvfb libnss3-tools ffmpeg"  # whole, so that it can be copied
    assert any(line.startswith("  Firefox: ") and line.endswith(packages) for line in todo)


def test_where_all_is_well_nothing_is_to_do(capsys: pytest.CaptureFixture[str]):
    doctor.show([doctor.Finding("cores", "ok", "2")])
    assert "What to do" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("finding", "state"),
    [
        (lambda: doctor._realtime(allowed=False, reserves_core=False), "warning"),
        (lambda: doctor._realtime(allowed=False, reserves_core=True), "warning"),
        (lambda: doctor._realtime(allowed=True, reserves_core=False), "ok"),
        (lambda: doctor._congestion_controls(["cubic", "reno"])[1], "warning"),
        (lambda: doctor._congestion_controls(["bbr", "reno"])[0], "missing"),
        (lambda: doctor._congestion_controls(["cubic"])[0], "ok"),
    ],
)
def test_a_state_is_how_much_a_run_needs_it(finding, state: str):
    found = finding()
    assert found.state == state
    assert bool(found.remedy) == (state != "ok")
