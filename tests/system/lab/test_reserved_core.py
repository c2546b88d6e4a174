"""Without real-time priority a lab keeps a core for itself, and what runs inside has the others."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from loads import load
from raw_lab import NOBODY, raw_lab
from timeouts import TEST_TIMEOUT_S

from eyelevel.browser.firefox.screen import Screen
from eyelevel.lab.binary import find_binary, run_tool
from eyelevel.store.directory import iterate_trials

WITHOUT = ("setpriv", "--inh-caps=-sys_nice", "--bounding-set=-sys_nice")
"""Root, whose labs may not have the priority."""
TURN_NS = re.compile(r"^se\.slice\s*:\s*(\d+)", re.MULTILINE)
PATH_TURN_NS, ENDPOINT_TURN_NS = 100_000, 400_000
PRINT_CORES = "import json, os; print(json.dumps(sorted(os.sched_getaffinity(0))))"
IN_A_LAB = f"""
import subprocess, sys
from eyelevel.lab.client import Lab, LabConfig
with Lab(LabConfig({{"down": [], "up": []}}, 1)) as lab:
    for prefix in (lab.command_prefix, lab.server_command_prefix):
        subprocess.run([*prefix, sys.executable, "-c", {PRINT_CORES!r}], check=True)
    print(lab.ready.reserved_cores)
"""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a right away")


def cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def lines_in_a_lab(*prefix: str) -> list[str]:
    done = subprocess.run(
        [*prefix, sys.executable, "-c", IN_A_LAB],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=True,
    )
    return done.stdout.splitlines()


@needs_root
@pytest.mark.parametrize("user", [WITHOUT, NOBODY], ids=["root", "nobody"])
def test_every_thread_of_the_lab_is_on_the_kept_core(user: tuple[str, ...], labs: None) -> None:
    if len(cores()) < 2:
        pytest.skip("needs two cores")
    with raw_lab(user, realtime=True) as (_, ready):
        if ready["realtime_priority"]:
            pytest.skip("everybody may have the priority here")
        kept = ready["reserved_cores"]
        assert kept[-1] == cores()[-1] and len(kept) < len(cores())
        threads = [int(each.name) for each in Path(f"/proc/{ready['init_pid']}/task").iterdir()]
        assert len(threads) > 2
        assert [os.sched_getaffinity(tid) for tid in threads] == [set(kept)] * len(threads)


@needs_root
def test_on_that_core_the_path_has_the_shortest_turns_and_servers_come_next(labs: None) -> None:
    with raw_lab(NOBODY, realtime=True) as (_, ready):
        if ready["realtime_priority"]:
            pytest.skip("everybody may have the priority here")
        found = [
            TURN_NS.search((each / "sched").read_text())
            for each in Path(f"/proc/{ready['init_pid']}/task").iterdir()
        ]
    turns = [int(each[1]) for each in found if each]
    if not turns:
        pytest.skip("this kernel does not tell how long turns are")
    assert (turns.count(PATH_TURN_NS), ENDPOINT_TURN_NS in turns) == (1, True)


@needs_root
def test_what_runs_inside_has_the_other_cores_and_a_server_the_kept_one(labs: None) -> None:
    if len(cores()) < 2:
        pytest.skip("needs two cores")
    near, far, kept = lines_in_a_lab(*WITHOUT)
    assert far == json.dumps(list(ast.literal_eval(kept)))
    assert sorted(json.loads(near) + json.loads(far)) == cores()


@needs_root
def test_the_commands_of_a_path_are_on_either_side_of_it(labs: None, tmp_path: Path) -> None:
    if len(cores()) < 2:
        pytest.skip("needs two cores")
    far_file = tmp_path / "far"
    far = f"{sys.executable} -c '{PRINT_CORES}' >{far_file}; sleep 600"
    near = f"until [ -s {far_file} ]; do sleep 0.01; done; {sys.executable} -c '{PRINT_CORES}'"
    words = [sys.executable, "-m", "eyelevel.cli.main", "path", "--rtt", "2 ms", "--far", far]
    done = subprocess.run(
        [*WITHOUT, *words, "--", "sh", "-c", near],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=True,
    )
    near_cores, far_cores = (
        json.loads(done.stdout.splitlines()[0]),
        json.loads(far_file.read_text()),
    )
    assert cores()[-1] in far_cores
    assert sorted(near_cores + far_cores) == cores()


@needs_root
def test_a_single_core_is_everybodys(labs: None) -> None:
    first = cores()[0]
    found = lines_in_a_lab("taskset", "--cpu-list", str(first), *WITHOUT)
    assert found == [json.dumps([first]), json.dumps([first]), "None"]


def test_with_the_priority_no_core_is_kept(labs: None) -> None:
    if not run_tool(["doctor"])["realtime_allowed"]:
        pytest.skip("the priority is refused here")
    every = json.dumps(cores())
    assert lines_in_a_lab() == [every, every, "None"]


@needs_root
@pytest.mark.parametrize("user", [(), WITHOUT, NOBODY], ids=["root", "without", "nobody"])
def test_doctor_promises_what_a_lab_does(user: tuple[str, ...], labs: None) -> None:
    with raw_lab(user, realtime=True) as (_, ready):
        binary = os.open(find_binary(), os.O_RDONLY)
        said = subprocess.run(
            [*user, f"/proc/self/fd/{binary}", "doctor"],
            capture_output=True,
            check=True,
            pass_fds=(binary,),
            cwd="/",
        )
        os.close(binary)
        assert json.loads(said.stdout)["reserves_core"] == (ready["reserved_cores"] is not None)


@needs_root
def test_the_record_says_how_many_cores_the_browser_had(
    labs: None, small_site: Path, tmp_path: Path
) -> None:
    if len(cores()) < 2:
        pytest.skip("needs two cores")
    hosts = []
    for name, prefix in (("kept", WITHOUT), ("whole", ())):
        trial = load(str(small_site), "--no-capture", out=tmp_path / name, prefix=prefix)
        (stored,) = iterate_trials(trial["kept_in"])
        hosts.append(stored.record["host"])
    kept, whole = hosts
    assert kept["browser_cores"] == len(cores()) - 1
    assert whole["realtime_priority"] == ("browser_cores" not in whole)


@pytest.mark.full
def test_firefoxs_screen_and_film_keep_off_it(tmp_path: Path) -> None:
    if shutil.which("Xvfb") is None or shutil.which("ffmpeg") is None:
        pytest.skip("Xvfb or ffmpeg is not installed")
    first = cores()[:1]
    with Screen(tmp_path, (64, 48), first) as screen:
        screen.film((0, 0), (64, 48), (64, 48))
        held = [os.sched_getaffinity(each.leader_pid) for each in (screen._server, screen._camera)]
    assert held == [set(first)] * 2
