"""Machines that hang or cannot be reached for longer than they may, and go on: their answers
come too late. And disks that are full."""

import os
import signal
import subprocess
import sys
from threading import Thread

import cluster_alone
import pytest
from synthetic_cluster import SyntheticCluster, tree
from timeouts import TEST_TIMEOUT_S

pytestmark = pytest.mark.full

FIRST = "startup/dsl/1"


@pytest.mark.parametrize("fate", ["stops", "stops with its nanny"])
def test_what_stands_still_loses_its_block_and_is_too_late_with_it(
    tmp_path, undisturbed, soon_missed, fate
):
    cluster = SyntheticCluster(tmp_path, {FIRST: [fate, "waits"]})

    def go_on():
        # Its block's next attempt is at its gate when somebody can write there.
        with cluster.gate(FIRST, 1).open("wb"):
            os.killpg(cluster.machine(FIRST).pid, signal.SIGCONT)

    going_on = Thread(target=go_on)
    going_on.start()
    assert cluster.to_its_end("one", "two").done == 18
    going_on.join(TEST_TIMEOUT_S)
    assert tree(cluster.run) == undisturbed
    assert cluster.attempts(FIRST) == 2


@pytest.fixture
def namespaces():
    """Skips where a test cannot have a network and a disk of its own."""
    word = [
        "unshare",
        "-rmn",
        "sh",
        "-c",
        "mount -t tmpfs none /mnt && ip link add name near type veth",
    ]
    allowed = subprocess.run(word, capture_output=True, check=False)
    if allowed.returncode != 0:
        pytest.skip(f"no namespaces can be made here: {allowed.stderr.decode().strip()}")


@pytest.mark.parametrize("case", cluster_alone.CASES)
def test_a_link_that_fails_and_disks_that_are_full_cost_no_trial(tmp_path, namespaces, case):
    command = ["unshare", "-rmn", sys.executable, cluster_alone.__file__, case, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
