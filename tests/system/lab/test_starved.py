"""A load on a machine that does not run it is excluded, and says why."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from timeouts import TEST_TIMEOUT_S

COMMAND = (sys.executable, "-m", "eyelevel.cli.main")
PRIORITY = 95
"""Above the emulated path's."""

# One processor is taken for 40 of every 80 ms of the common clock: all are taken at once, and no
# waiting thread finds a free one. It ends with the test, whatever ends that, and by itself.
HOG = f"""
import os, select, sys, time
os.sched_setaffinity(0, {{int(sys.argv[1])}})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param({PRIORITY}))
print("taken", flush=True)
parent, end = int(sys.argv[2]), time.monotonic() + {TEST_TIMEOUT_S}
while os.getppid() == parent and (now := time.monotonic()) < end:
    if now % 0.08 >= 0.04:
        select.select([], [], [], 0.08 - now % 0.08)
"""

pytestmark = [pytest.mark.alone, pytest.mark.usefixtures("labs")]


@contextmanager
def busy_processors() -> Iterator[None]:
    """Every processor is taken half of the time by a process of higher priority."""
    hogs = [
        subprocess.Popen(
            [sys.executable, "-c", HOG, str(core), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for core in sorted(os.sched_getaffinity(0))
    ]
    try:
        taken = [hog.stdout.readline() for hog in hogs if hog.stdout]
        if b"" in taken:
            pytest.skip("real-time priority is refused here, so nothing can outrank the path")
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.communicate()


def test_a_starved_load_counts_for_nothing_and_says_why(tmp_path: Path) -> None:
    load = [*COMMAND, "load", "synthetic:objects=5", "--network", "dsl", "--json"]
    load += ["--out", str(tmp_path)]
    with busy_processors():
        done = subprocess.run(
            load, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
        )
    assert done.returncode == 1, "no load was ok"
    (trial,) = json.loads(done.stdout)
    assert trial["outcome"] == "starved", trial["outcome_detail"]
    assert "other programs took" in trial["outcome_detail"], trial["outcome_detail"]
    assert trial["host"]["cpu_foreign_share"] > 0.3
    metrics = [*COMMAND, "metrics", str(tmp_path), "--json"]
    read = subprocess.run(
        metrics, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=True
    )
    (row,) = json.loads(read.stdout)
    # Not four zeros, and not in any mean: nothing.
    assert row["outcome"] == "starved"
    for name in ("page_load_time_ms", "speed_index_ms", "first_visual_change_ms"):
        assert row[name] is None and trial[name] is None
