"""What a run of tests leaves that is killed: no worker."""

import os
import subprocess
import sys

from synthetic_cluster import ended

STARTER = """
import sys
from pathlib import Path
from synthetic_cluster import SyntheticCluster
cluster = SyntheticCluster(Path(sys.argv[1]), {})
cluster.address = "tcp://127.0.0.1:1"
cluster.start("a")
print(cluster.workers["a"].pid, flush=True)
sys.stdin.read()
"""


def test_a_made_up_worker_ends_with_the_process_of_its_test_however_that_ends(tmp_path):
    paths = os.pathsep.join(filter(None, sys.path))
    with subprocess.Popen(
        [sys.executable, "-c", STARTER, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": paths},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as starter:
        worker = int(starter.stdout.readline())
        starter.kill()
    ended(worker)
