"""Ctrl-C at a run with slots elsewhere: the first ends after the blocks, the second at once."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

from cluster_stub import ATTEMPTS, GATES
from synthetic_cluster import ended
from timeouts import TEST_TIMEOUT_S

from eyelevel.store.directory import PLAN_FILE, list_committed, read_document

FIRST = "startup/dsl/1"
CLIENT = """
import signal, sys
from contextlib import contextmanager
from pathlib import Path
from synthetic_cluster import SyntheticCluster
from eyelevel.run.study.loop import run_trials
signal.signal(signal.SIGINT, signal.default_int_handler)
cluster = SyntheticCluster(Path(sys.argv[1]), {sys.argv[2]: ["waits"]})
print("gate", flush=True)

@contextmanager
def driver(accounts, interrupted):
    with cluster._driver(["one"], accounts, interrupted) as slots:
        try:
            yield slots
        except BaseException:
            slots.break_off()
            print("broken off", flush=True)
            sys.stdin.read()
            raise

def show(progress):
    if progress.ending:
        print("ending", flush=True)

result = run_trials(cluster.trials(), {}, cluster.run, show, driver=driver)
print("interrupted", result.interrupted, result.done, flush=True)
"""


@contextmanager
def client_at_its_gate(folder):
    """A run whose first block is under way until the gate is closed."""
    paths = os.pathsep.join(filter(None, sys.path))
    with subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(folder), FIRST],
        env={**os.environ, "PYTHONPATH": paths},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as client:
        try:
            assert client.stdout.readline() == "gate\n"
            name = f"{FIRST.replace('/', '_')}.0"
            with (folder / "site" / GATES / name).open("wb") as gate:
                client.send_signal(signal.SIGINT)
                assert client.stdout.readline() == "ending\n"
                yield client, gate, int((folder / "site" / ATTEMPTS / name).read_text().split()[0])
        finally:
            client.kill()


def test_the_first_ends_after_the_current_blocks(tmp_path):
    with client_at_its_gate(tmp_path) as (client, gate, _):
        gate.close()
        assert client.stdout.read().splitlines()[-1] == "interrupted True 3"
        assert client.wait(TEST_TIMEOUT_S) == 0
    plan = read_document(tmp_path / "run", PLAN_FILE)
    first = {trial["hash"] for trial in plan["trials"] if trial["block"] == FIRST}
    assert list_committed(tmp_path / "run") == first


def test_the_second_ends_at_once_what_slots_do_and_nothing_of_it_is_committed(tmp_path):
    with client_at_its_gate(tmp_path) as (client, _, slot):
        client.send_signal(signal.SIGINT)
        assert client.stdout.readline() == "broken off\n"
        ended(slot)  # though its gate is not open
        client.stdin.close()
        assert client.wait(TEST_TIMEOUT_S) != 0
    assert not list_committed(tmp_path / "run")
