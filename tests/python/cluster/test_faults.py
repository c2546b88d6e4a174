"""Whatever befalls slots, machines and the client: each trial is there once, each block whole."""

import os

import cluster_stub
import pytest
from made_up_cluster import MadeUpCluster

from eyelevel.store.commit import write_trial
from eyelevel.store.directory import iterate_trials

FIRST = "startup/dsl/1"


def tree(directory):
    folders = [directory / "trials", directory / "pictures"]
    files = (file for folder in folders for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(directory)): file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What a run on one machine, without a cluster, leaves."""
    cluster = MadeUpCluster(tmp_path_factory.mktemp("whole"), {})
    for trial in cluster.trials():
        made = cluster_stub.made_up(trial)
        write_trial(cluster.run, made.record, made.frames)
    return tree(cluster.run)


def test_a_clusters_run_is_the_one_that_a_machine_alone_gives(tmp_path, undisturbed):
    cluster = MadeUpCluster(tmp_path, {})
    result = cluster.to_its_end("one", "two")
    assert (result.done, result.total, result.interrupted) == (18, 18, False)
    assert tree(cluster.run) == undisturbed
    assert not (cluster.run / "scheduler.json").exists()
    assert all(cluster.attempts(block) == 1 for block in {t.block for t in cluster.trials()})


@pytest.mark.parametrize(
    "fate", ["killed before", "killed amid", "killed at its end", "killed with its nanny"]
)
def test_a_lost_worker_costs_its_block_which_is_run_again_whole(tmp_path, undisturbed, fate):
    cluster = MadeUpCluster(tmp_path, {FIRST: [fate]})
    assert cluster.to_its_end("one", "two").done == 18
    assert tree(cluster.run) == undisturbed
    assert cluster.attempts(FIRST) == 2


def test_a_block_that_takes_three_slots_with_it_is_given_up_with_their_names(tmp_path):
    cluster = MadeUpCluster(tmp_path, {FIRST: ["killed amid"] * 9})
    assert cluster.to_its_end("one", "two").done == 18
    assert cluster.attempts(FIRST) == 3
    records = [trial.record for trial in iterate_trials(cluster.run)]
    failed = [each for each in records if each["outcome"] != "ok"]
    assert {each["trial"]["block"] for each in failed} == {FIRST} and len(failed) == 3
    for each in failed:
        assert each["outcome"] == "lab-failed"
        assert each["outcome_detail"].startswith("its block was lost 3 times, with a slot of ")


def test_a_machine_that_joins_late_takes_blocks(tmp_path, undisturbed):
    cluster = MadeUpCluster(tmp_path, {FIRST: ["waits"]})
    started = cluster.start

    def late(machine, slots=1):
        started(machine, slots)
        if machine == "one" and os.fork() == 0:  # another process lets it go on
            cluster.gate(FIRST).open("wb").close()
            os._exit(0)

    cluster.start = late
    assert cluster.to_its_end("one").done == 18
    assert tree(cluster.run) == undisturbed
