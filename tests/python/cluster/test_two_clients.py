"""Two clients of one plan and directory: the second is refused, or, if the disk has no locks, the
first to commit a trial wins."""

import os
import subprocess
import sys
from threading import Barrier, Thread

import pytest
from synthetic_cluster import PLAN, SyntheticCluster, tree
from timeouts import TEST_TIMEOUT_S

from eyelevel.base.errors import StoreError
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import Site
from eyelevel.run.study.prepare import begin_study
from eyelevel.store.directory import list_committed

pytestmark = pytest.mark.full

FIRST = "startup/dsl/1"


def test_the_second_is_refused_with_the_firsts_name_while_that_loads(tmp_path):
    cluster = SyntheticCluster(tmp_path, {FIRST: ["waits"]})
    # With a script in its own folder, so that the first's recording stays as it is.
    second = (
        "from synthetic_cluster import SyntheticCluster; from pathlib import Path; import sys\n"
    )
    second += "cluster = SyntheticCluster(Path(sys.argv[1]) / 'second', {})\n"
    second += "cluster.run = Path(sys.argv[1]) / 'run'\ncluster.to_its_end()"
    said = []

    def begin_second():
        with cluster.gate(FIRST).open("wb"):  # the first is at its gate when this opens
            said.append(client(second, tmp_path).communicate(timeout=TEST_TIMEOUT_S)[0])

    beginning = Thread(target=begin_second)
    beginning.start()
    assert cluster.to_its_end("one").done == 18
    beginning.join()
    assert f"StoreError: writing {cluster.run}: process {os.getpid()} since " in said[0]
    assert "is writing there; wait until it has ended, or choose another --out" in said[0]


LOCKLESS = """
import sys
from pathlib import Path
from eyelevel.store import claim, disk
for module in (claim, disk):
    module.lock = lambda descriptor: None
from synthetic_cluster import SyntheticCluster
cluster = SyntheticCluster(Path(sys.argv[1]), {})
cluster.run = Path(sys.argv[2])
print(cluster.to_its_end().done)
"""


def test_without_locks_both_come_to_the_end_and_each_trial_is_there_once(tmp_path, undisturbed):
    clients = [client(LOCKLESS, tmp_path / name, tmp_path / "run") for name in ("one", "two")]
    for each in clients:
        said, _ = each.communicate(timeout=TEST_TIMEOUT_S)
        assert each.returncode == 0 and said == "18\n", said
    assert len(list_committed(tmp_path / "run")) == 18
    assert tree(tmp_path / "run") == undisturbed
    assert not [each for each in (tmp_path / "run" / "trials").iterdir() if each.name[0] == "."]


def client(program, *words):
    """A process of its own, which tells all on one stream."""
    paths = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_of_two_plans_that_begin_in_one_moment_without_locks_one_stays(tmp_path):
    texts = [PLAN, PLAN.replace("blocks = 3", "blocks = 4")]
    plans = [parse_plan(text, "plan.toml") for text in texts]
    barrier, refused, stayed = Barrier(2), [], []

    def begin(plan):
        barrier.wait()
        try:
            stayed.append(begin_study(plan, [Site("startup", "sha256:a")], tmp_path, resume=False))
        except StoreError as error:
            refused.append(str(error))

    # Of one process, whose second claim of a directory is no other's.
    beginning = [Thread(target=begin, args=(plan,)) for plan in plans]
    for each in beginning:
        each.start()
    for each in beginning:
        each.join()
    assert len(stayed) == 1
    assert refused == [
        f"writing {tmp_path}: it holds the run of another plan; choose another --out"
    ]


@pytest.mark.parametrize("resume", [False, True])
def test_a_directory_of_another_plan_is_refused(tmp_path, resume):
    plan = parse_plan(PLAN, "plan.toml")
    begin_study(plan, [Site("startup", "sha256:a")], tmp_path, resume=False)
    with pytest.raises(
        StoreError, match=r"it holds the run of another plan; choose another --out$"
    ):
        begin_study(plan, [Site("startup", "sha256:b")], tmp_path, resume=resume)
