"""What a load measures of a busy machine: the time that others had, by which it is judged, and the
pressure of its own cgroup, by which it is not.

The cgroup is a real one of version 2, so this needs a machine on which we may make one.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from judged import judge_all
from own_cgroup import new_cgroup
from timeouts import TEST_TIMEOUT_S

from eyelevel.store.directory import iterate_trials

HOGS = (os.cpu_count() or 1) + 1
"""One more than could all run: somebody always waits."""

ENTER = 'echo $$ > "$1/cgroup.procs" && shift && exec "$@"'
SPIN = "import sys\nsys.stdin.close()\nprint(flush=True)\nfor _ in iter(int, 1): pass"
UNDISTURBED = {"cpu_foreign_share": 0.0, "cpu_steal_share": 0.0}
IDLE = """
import json, time
from eyelevel.load.host import HostSample
before = HostSample.take(time.monotonic())
time.sleep(0.3)
print(json.dumps(before.until(HostSample.take(time.monotonic()))))
"""

pytestmark = [pytest.mark.alone, pytest.mark.usefixtures("labs")]


@pytest.fixture
def cgroup() -> Iterator[Path]:
    """A new cgroup below ours that counts CPU pressure."""
    with new_cgroup() as folder:
        if not (folder / "cpu.pressure").exists():
            pytest.skip("this kernel counts no CPU pressure for a cgroup")
        yield folder


@contextlib.contextmanager
def hogs(prefix: list[str]) -> Iterator[None]:
    """Processes that never wait for anything, at all."""
    command = [*prefix, sys.executable, "-c", SPIN]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(HOGS)]
    try:
        for hog in started:
            assert hog.stdout is not None and hog.stdout.readline()
        yield
    finally:
        for hog in started:
            hog.kill()
            hog.communicate()


def said(command: list[str]) -> Any:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_a_load_beside_others_is_starved_by_their_time_and_not_by_its_own_waiting(
    cgroup: Path, small_site: Path, tmp_path: Path
) -> None:
    inside = ["sh", "-c", ENTER, "sh", str(cgroup)]
    with hogs([]):  # outside, where they are nobody's trouble who does not want a processor
        quiet = said([*inside, sys.executable, "-c", IDLE])
    assert quiet["cpu_pressure_of"] == "cgroup"
    assert quiet["cpu_foreign_share"] > 0.5, "of which a process that sleeps had nothing"
    load = [sys.executable, "-m", "eyelevel.cli.main", "load", str(small_site), "--json"]
    with hogs(inside):
        said([*inside, *load, "--network", "cable", "--out", str(tmp_path)])
    (stored,) = iterate_trials(tmp_path)
    record = stored.record
    host = record["host"]
    assert host["cpu_pressure_of"] == "cgroup"
    assert host["cpu_pressure_share"] > quiet["cpu_pressure_share"] + 0.3

    beside = {**record, "outcome": "ok", "trial": {**record["trial"], "hash": "beside"}}
    trial = {**record["trial"], "hash": "alone", "block": "another"}
    alone = {**beside, "trial": trial, "host": {**host, **UNDISTURBED}}
    judged = judge_all([beside, alone])
    assert judged["beside"][0] == "starved" and "other programs took" in judged["beside"][1]
    assert judged["alone"] == ("ok", record["outcome_detail"])
