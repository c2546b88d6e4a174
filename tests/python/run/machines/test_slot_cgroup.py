"""Each slot has a cgroup of its own, where that is allowed, and nothing is left of it."""

import os
import subprocess
import sys

import pytest

from eyelevel.load.host import MACHINE_PRESSURE
from eyelevel.run.machines.slot_cgroup import (
    GROUP_VARIABLE,
    enter_group,
    slot_group,
)


@pytest.fixture
def made_up(tmp_path):
    """A tree of cgroups in which this process is in `unit`."""
    unit = tmp_path / "fs" / "unit"
    unit.mkdir(parents=True)
    (unit / "cgroup.procs").touch()
    own = tmp_path / "cgroup"
    own.write_text("4:memory:/elsewhere\n0::/unit\n")
    return unit, own, [tmp_path / "nothing", tmp_path / "fs"]


def test_a_group_is_there_as_long_as_the_slot(made_up):
    unit, *where = made_up
    with slot_group(3, *where) as group:
        assert group == unit / f"eyelevel-slot-{os.getpid()}-3" and group.is_dir()
    assert not group.exists()


def test_what_killed_commands_left_is_removed_and_nothing_else(made_up):
    unit, *where = made_up
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    for name in (f"eyelevel-slot-{ended.pid}-1", f"eyelevel-slot-{os.getppid()}-1", "other"):
        (unit / name).mkdir()
    with slot_group(1, *where):
        pass
    left = {folder.name for folder in unit.iterdir() if folder.is_dir()}
    assert left == {f"eyelevel-slot-{os.getppid()}-1", "other"}


def test_where_no_group_may_be_made_there_is_none(made_up, tmp_path):
    unit, own, mounted = made_up
    with slot_group(1, own, [tmp_path / "nothing"]) as group:
        assert group is None
    with slot_group(1, tmp_path / "absent", mounted) as group:
        assert group is None
    (unit / f"eyelevel-slot-{os.getpid()}-1").touch()
    with slot_group(1, own, mounted) as group:
        assert group is None


def test_a_process_without_a_group_stays_where_it_is(monkeypatch, tmp_path):
    monkeypatch.delenv(GROUP_VARIABLE, raising=False)
    assert not enter_group()
    monkeypatch.setenv(GROUP_VARIABLE, str(tmp_path / "absent"))
    assert not enter_group()


SLOT = """
import subprocess, sys
from eyelevel.run.machines.slot_cgroup import enter_group
from eyelevel.load.host import pressure_file
assert enter_group()
print(pressure_file())
of_child = "from eyelevel.load.host import pressure_file; print(pressure_file())"
subprocess.run([sys.executable, "-c", of_child], check=True)
"""


def test_the_pressure_of_a_slot_and_of_what_it_starts_is_its_groups():
    with slot_group(7) as group:
        if group is None:
            pytest.skip("no cgroup of version 2 may be made here")
        paths = os.pathsep.join(filter(None, sys.path))
        environment = {**os.environ, "PYTHONPATH": paths, GROUP_VARIABLE: str(group)}
        command = [sys.executable, "-c", SLOT]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        files = done.stdout.split()
        assert files == [str(group / "cpu.pressure")] * 2 != [str(MACHINE_PRESSURE)] * 2
    assert not group.exists()
