"""Measure what an idle path costs, and how long it takes to start."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.path.figure import Figure
from eyelevel.lab.client import Lab, LabConfig

IDLE_S = 10.0
STARTS = 15
PATH = {
    "down": [{"stage": "delay", "delay_ms": 20.0}],
    "up": [{"stage": "delay", "delay_ms": 20.0}],
}
# Prints the wall clock as the first thing that runs inside.
CLOCK = ["date", "+%s%N"]


def idle() -> Iterator[Figure]:
    """Wake-ups and processor time of every process of a path while nothing is sent."""
    with Lab(LabConfig(PATH, 1)) as lab:
        processes = _tree(lab)
        time.sleep(1.0)
        before = [_seen(process) for process in processes]
        time.sleep(IDLE_S)
        after = [_seen(process) for process in processes]
    pairs = list(zip(before, after, strict=True))
    wakes = sum(late[0] - early[0] for early, late in pairs)
    cpu_share = sum(late[1] - early[1] for early, late in pairs) / 1e9 / IDLE_S
    yield Figure(f"wake-ups in {IDLE_S:g} s with nothing queued", "0", str(wakes))
    yield Figure("share of a core when idle", "", f"{cpu_share:.5f}", "0.035 to 0.04")


def start() -> Iterator[Figure]:
    """Measure the time from the command to the first instruction inside, and to the end of the
    command."""
    command = [str(Path(sys.executable).parent / "eyelevel"), "path", "--rtt", "40ms", "--"]
    inside_ms, whole_ms = [], []
    for _ in range(STARTS):
        began_ns = time.time_ns()
        done = subprocess.run([*command, *CLOCK], stdout=subprocess.PIPE, check=True)
        inside_ms.append((int(done.stdout) - began_ns) / 1e6)
        whole_ms.append((time.time_ns() - began_ns) / 1e6)
    for what, asked, values, *peer in (
        ("until a command runs inside, ms", "<= 30", inside_ms, "112 to 341", "324"),
        ("until it has ended and the path is gone, ms", "", whole_ms),
    ):
        yield Figure(what, asked, f"{sorted(values)[len(values) // 2]:.1f}", *peer)


def _tree(lab: Lab) -> list[int]:
    """The lab's first process as seen from outside, and its parent."""
    status = Path(f"/proc/{lab.ready.init_pid}/status").read_text()
    parent = re.search(r"^PPid:\t(\d+)$", status, re.M)
    assert parent is not None
    return [lab.ready.init_pid, int(parent[1])]


def _seen(process: int) -> tuple[int, int]:
    """Switches to and from its threads, and nanoseconds on a processor."""
    switches = nanoseconds = 0
    for task in Path(f"/proc/{process}/task").iterdir():
        text = (task / "status").read_text()
        switches += sum(int(n) for n in re.findall(r"ctxt_switches:\t(\d+)", text))
        nanoseconds += int((task / "schedstat").read_text().split()[0])
    return switches, nanoseconds
