import os
import subprocess
import sys
from pathlib import Path

import pytest

from eyelevel.load.host import (
    MACHINE_PRESSURE,
    HostSample,
    pressure_file,
    processor_ticks,
    tree_cpu_s,
)


def test_pressure_is_our_cgroups_where_it_is_counted(tmp_path: Path):
    own = tmp_path / "cgroup"
    mounts = (tmp_path / "v2", tmp_path / "unified")
    own.write_text("5:memory:/elsewhere\n0::/user.slice/run.scope\n")
    assert pressure_file(own, mounts) == MACHINE_PRESSURE
    counted = mounts[1] / "user.slice/run.scope"
    counted.mkdir(parents=True)
    (counted / "cpu.pressure").write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n")
    assert pressure_file(own, mounts) == counted / "cpu.pressure"
    own.write_text("0::/\n")  # the root's is the machine's
    (mounts[1] / "cpu.pressure").write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n")
    assert pressure_file(own, mounts) == MACHINE_PRESSURE
    assert pressure_file(tmp_path / "absent", mounts) == MACHINE_PRESSURE


def test_shares_are_of_the_time_between_two_samples():
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    before = HostSample(dict.fromkeys(names, 0), 1_000_000, 10.0, "cgroup", 5.0, processors=2)
    # Of user time a tick saw none; but it was neither idle nor stolen.
    ticks = dict.fromkeys(names, 0) | {"idle": 100, "iowait": 20, "steal": 20}
    found = before.until(HostSample(ticks, 1_500_000, 11.0, "cgroup", 5.4, processors=2))
    assert found == {
        "cpu_steal_share": 0.1,
        "cpu_busy_share": pytest.approx(0.3),
        "cpu_foreign_share": pytest.approx(0.1),
        "cpu_pressure_share": 0.5,
        "cpu_pressure_of": "cgroup",
    }
    assert before.until(before)["cpu_foreign_share"] == 0.0


STAT = """cpu  11 2 3 4 5 6 7 8 0 0
cpu0 1 2 3 4 5 6 7 8 0 0
cpu1 10 0 0 0 0 0 0 0 0 0
cpu10 1000 0 0 0 0 0 0 0 0 0
intr 5
"""


def test_ticks_are_of_the_processors_that_we_may_use():
    """What a neighbouring lab does on its own is not counted."""
    kinds = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    assert processor_ticks(STAT, {0, 1}) == dict(zip(kinds, (11, 2, 3, 4, 5, 6, 7, 8), strict=True))
    assert processor_ticks(STAT, {1})["user"] == 10


SPIN = """
import os, sys, time
def spin(s):
    end = time.process_time() + s
    while time.process_time() < end: pass
if (pid := os.fork()) == 0:
    spin(0.05); os._exit(0)
os.waitpid(pid, 0)
if os.fork() == 0:
    if os.fork() == 0:
        spin(0.05); print("spun", flush=True); sys.stdin.read(); os._exit(0)
    os.wait(); os._exit(0)
os.wait()
"""


def test_a_tree_has_children_that_ended_grandchildren_and_nobody_elses():
    spin = [sys.executable, "-c", SPIN]
    before_s = tree_cpu_s(os.getpid())
    with subprocess.Popen(spin, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"spun\n"
        own_s = tree_cpu_s(process.pid)
        # 50 ms of a child that was waited for, in ticks, and 50 ms of a grandchild.
        assert own_s >= 0.09
        assert tree_cpu_s(os.getpid()) - before_s >= own_s
    assert tree_cpu_s(process.pid) == 0.0, "it is gone"
    assert tree_cpu_s(os.getpid()) - before_s >= 0.09, "and counts with whoever waited for it"
