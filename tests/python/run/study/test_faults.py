"""Killed, on a full or a read-only disk, without descriptors: at each named step nothing is half
under its name, and what is done again ends as if nothing had happened, byte for byte.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import fault_runs
import pytest
from counts import count
from sample_record import sample_record

from eyelevel.store import commit, disk
from eyelevel.store.disk import watch_steps

TEST_TIMEOUT_S = 580.0
SEEDED = count(full=200, sample=20)
"""Runs of a study in which up to three faults come one after another."""

OF_A_FILE = set(disk.STEPS)
OF_A_BLOCK = {commit.BEGUN, *(step.name for step in commit.STEPS), commit.RENAMED, commit.DONE}


def started(folder: Path, work: str, *more: str) -> subprocess.Popen[str]:
    """The cases of one kind of work, in a mount namespace of their own."""
    folder.mkdir()
    program = [sys.executable, fault_runs.__file__, str(folder), work, *more]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(
        ["unshare", "-rm", *program],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[list[str], Counter[str]]:
    """The steps that were gone through, and how many cases ended how; none went wrong."""
    said, _ = process.communicate(timeout=TEST_TIMEOUT_S)
    *wrong, last = said.splitlines()
    assert process.returncode == 0 and not wrong, said[-3000:]
    told = json.loads(last)
    return told["steps"], Counter(told["ended"])


@pytest.fixture(scope="module")
def namespaces() -> None:
    """Skips where a test cannot have a disk of its own."""
    allowed = subprocess.run(
        ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
    )
    if allowed.returncode != 0:
        pytest.skip(f"no mount namespace can be made here: {allowed.stderr.decode().strip()}")


@pytest.mark.counted
@pytest.mark.parametrize("work", ["study", "cluster"])
def test_a_run_ends_as_if_nothing_had_happened_whatever_step_it_was_broken_at(
    tmp_path, namespaces, work
):
    """Trial by trial as a run here commits them, and whole blocks as they come from elsewhere."""
    shares = [f"{part}/2" for part in (1, 2)]
    more = ("--seeded", str(SEEDED), "--share")
    running = [started(tmp_path / share[0], work, *more, share) for share in shares]
    (steps, first), (_, second) = map(ended, running)
    assert set(steps) == OF_A_FILE | OF_A_BLOCK, "every step of the tables is gone through"
    how = first + second
    assert how["seeded"] == SEEDED
    assert how["killed"] == len(steps) and how["refused"] > len(steps), how
    assert how.total() == SEEDED + len(fault_runs.FAULTS) * len(steps)


@pytest.mark.parametrize("work", ["report", "bundle", "unpack"])
def test_what_is_made_of_a_run_is_whole_or_not_there(tmp_path, namespaces, work):
    steps, how = ended(started(tmp_path / work, work))
    assert set(steps) == OF_A_FILE
    assert how["killed"] == len(steps) and how["refused"] > len(steps) / 2, how


def test_a_trials_commit_is_its_table(tmp_path):
    # A step that is named and not told, or told out of its order, could not be tested.
    seen: list[str] = []
    with watch_steps(seen.append):
        assert commit.write_trial(tmp_path, sample_record())
    told = [step for step in seen if step != commit.RENAMED]
    assert told == [commit.BEGUN, *(step.name for step in commit.STEPS), commit.DONE]
