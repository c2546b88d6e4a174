"""CPU pressure of the lab's own cgroup: a load that waits in it is starved, others' waits are not.

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
from hang import HANG_S
from judged import judge_all
from own_cgroup import new_cgroup

from eyelevel.store.directory import iterate_trials

HOGS = (os.cpu_count() or 1) + 1
"""One more than could all run: somebody always waits."""

ENTER = 'echo $$ > "$1/cgroup.procs" && shift && exec "$@"'
SPIN = "import sys\nsys.stdin.close()\nprint(flush=True)\nfor _ in iter(int, 1): pass"
IDLE = """
import json, time
from eyelevel.run.trial.host import HostSample
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
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_a_load_that_waits_in_its_cgroup_is_starved(
    cgroup: Path, small_site: Path, tmp_path: Path
) -> None:
    inside = ["sh", "-c", ENTER, "sh", str(cgroup)]
    with hogs([]):  # outside, where they are nobody's trouble who does not want a processor
        quiet = said([*inside, sys.executable, "-c", IDLE])
    assert quiet["cpu_pressure_of"] == "cgroup"
    load = [sys.executable, "-m", "eyelevel.cli.main", "load", str(small_site), "--json"]
    with hogs(inside):
        said([*inside, *load, "--network", "cable", "--out", str(tmp_path)])
    (stored,) = iterate_trials(tmp_path)
    starved = stored.record
    host = starved["host"]
    assert host["cpu_pressure_of"] == "cgroup"
    assert host["cpu_pressure_share"] > quiet["cpu_pressure_share"] + 0.3

    records = [{**starved, "outcome": "ok", "trial": {**starved["trial"], "hash": "starved"}}]
    for number in range(4):
        trial = {**starved["trial"], "hash": f"quiet{number}", "block": f"block{number}"}
        records.append({**records[0], "trial": trial, "host": {**host, **quiet}})
    judged = judge_all(records)
    assert judged["starved"][0] == "starved" and "CPU pressure was" in judged["starved"][1]
    assert {judged[f"quiet{number}"][0] for number in range(4)} == {"ok"}
