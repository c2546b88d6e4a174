"""A run with real loads, killed at steps of its commits and amid a load, then resumed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fault_runs import tree
from labs import CORPUS
from loads import COMMAND
from timeouts import TEST_TIMEOUT_S

from eyelevel.browser.processes import PROFILE_PREFIX
from eyelevel.store.directory import iterate_trials, list_committed, read_document

PLAN = """\
sites = ["{site}"]
networks = ["fios"]
stacks = ["tcp+", "quic"]
reference = "tcp+"
blocks = 2
"""

# The command, killed as a step of its first commit begins.
KILLED = """
import os, signal, sys
from eyelevel.cli.main import main
from eyelevel.store.disk import watch_steps
step = sys.argv.pop(1)
def kill(reached):
    if reached == step:
        os.kill(os.getpid(), signal.SIGKILL)
with watch_steps(kill):
    sys.exit(main())
"""

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("labs")]


def test_each_trial_is_there_once_however_often_a_run_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, out, temporary = tmp_path / "plan.toml", tmp_path / "out", tmp_path / "tmp"
    plan.write_text(PLAN.format(site=CORPUS / "plain.wacz"))
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    run = ["run", str(plan), "--out", str(out), "--resume"]

    def killed_at(step: str) -> None:
        command = [sys.executable, "-c", KILLED, step, *run]
        done = subprocess.run(command, capture_output=True, timeout=TEST_TIMEOUT_S, check=False)
        assert done.returncode == -signal.SIGKILL, done.stderr.decode()

    killed_at("block whole")
    assert list_committed(out) == set()
    killed_at("block remove")
    first = tree(out / "trials")
    (name,) = list_committed(out)
    _killed_in_a_load([*COMMAND, *run], temporary)
    assert list_committed(out) == {name}

    done = subprocess.run(
        [*COMMAND, *run], capture_output=True, timeout=TEST_TIMEOUT_S, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    planned = [trial["hash"] for trial in read_document(out, "plan.json")["trials"]]
    assert len(planned) == 4 and list_committed(out) == set(planned)
    assert len(list(iterate_trials(out))) == 4
    found = tree(out / "trials")
    kept = {path: content for path, content in found.items() if path.startswith(name)}
    assert kept == {path: content for path, content in first.items() if path.startswith(name)}
    assert not list(out.rglob(".writing-*")) and (out / "report.html").exists()
    assert list(temporary.iterdir()) == [], "what the killed ones left went with the last"


def _killed_in_a_load(command: list[str], temporary: Path) -> None:
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + TEST_TIMEOUT_S
        while not list(temporary.glob(f"{PROFILE_PREFIX}{process.pid}-*/*")):
            assert process.poll() is None and time.monotonic() < deadline
            os.sched_yield()
        process.kill()
