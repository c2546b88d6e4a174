"""Machines of a real cluster: each record says where it was made; who differs takes no block."""

import os
import sys
from collections import defaultdict
from functools import partial
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import cluster_stub
import pytest
from cluster_stub import OfItsProcess, Questions
from synthetic_cluster import PLAN, SyntheticCluster, until

from eyelevel.base.errors import LaterError
from eyelevel.cluster import driver
from eyelevel.cluster.names import machine_id
from eyelevel.run.block.load import BlockWork
from eyelevel.run.machines.slot_cgroup import slot_group
from eyelevel.run.study.loop import Execution, run_trials
from eyelevel.store.directory import iterate_trials, list_committed
from eyelevel.store.machines import machine_file, read_machines

pytestmark = pytest.mark.full

ONE, TWO = machine_id("one"), machine_id("two")
FIRST = "startup/dsl/1"


def places(directory):
    """By block the machines and slots of its loads."""
    found = defaultdict(set)
    for trial in iterate_trials(directory):
        host = trial.record["host"]
        found[trial.record["trial"]["block"]].add((host["machine"], host["slot"]))
    return found


def test_each_record_has_its_machine_and_slot_one_of_both_a_block(tmp_path):
    cluster = SyntheticCluster(tmp_path, {FIRST: ["waits"]})
    cluster.slots_each = 2
    assert with_a_later_one(cluster, machine_file(cluster.run, TWO).exists).done == 18
    of_blocks = places(cluster.run)
    assert all(len(each) == 1 for each in of_blocks.values()) and len(of_blocks) == 6
    slots = set.union(*of_blocks.values())
    kept = read_machines(cluster.run)
    assert {machine: each["name"] for machine, each in kept.items()} == {ONE: "one", TWO: "two"}
    assert slots <= {(machine, number) for machine in kept for number in (1, 2)}
    assert len(slots) > 1


def test_a_slot_is_one_thread_without_a_limit_in_a_cgroup_of_its_own_and_none_is_left(tmp_path):
    with slot_group(99) as group:
        if group is None:
            pytest.skip("no cgroup of version 2 may be made here")
    cluster = SyntheticCluster(tmp_path, {})
    cluster.questions = OfItsProcess()
    assert cluster.to_its_end("one").done == 18
    facts = read_machines(cluster.run)[ONE]["facts"]
    assert (facts["threads"], facts["memory limit"]) == ("1", "None")
    name = f"eyelevel-slot-{cluster.workers['one'].pid}-1"
    assert facts["cgroup"].rstrip().endswith(f"/{name}")
    assert not (group.parent / name).exists()


def with_a_later_one(cluster, is_seen):
    """The run of a machine, which another joins while the first one's first block goes on: until
    what is awaited of the other is seen."""

    def joined_later():
        # It is at its gate when somebody can write there: then the other one comes.
        with cluster.gate(FIRST).open("wb"):
            cluster.start("two")
            until(is_seen)

    joining = Thread(target=joined_later, daemon=True)
    joining.start()
    result = cluster.to_its_end("one")
    joining.join()
    return result


def test_a_machine_that_differs_takes_no_block_and_the_line_says_in_what(tmp_path):
    cluster = SyntheticCluster(tmp_path, {FIRST: ["waits"]})
    cluster.questions = Questions(kernels={TWO: "6.6"})
    assert with_a_later_one(cluster, lambda: cluster.told).done == 18
    assert {machine for each in places(cluster.run).values() for machine, _ in each} == {ONE}
    assert cluster.told == [
        "machine two was refused: its kernel is 6.6 and not 6.1, unlike one; "
        "--allow-heterogeneous takes it as another class; 1 of 2 admitted"
    ]


def test_a_machine_of_another_version_takes_no_block_and_the_line_says_what_to_do(tmp_path):
    cluster = SyntheticCluster(tmp_path, {FIRST: ["waits"]})
    other = tmp_path / "other version"
    other.mkdir()
    (other / "cluster_stub.py").write_text("# what it is asked is not there yet\n")
    paths = os.pathsep.join([str(other), *filter(None, sys.path)])
    cluster.prefixes["two"] = ["env", f"PYTHONPATH={paths}"]
    assert with_a_later_one(cluster, lambda: cluster.told).done == 18
    [line] = cluster.told
    assert line.startswith("machine two was refused: it cannot say what it is (AttributeError: ")
    assert line.endswith("); have the same eyelevel there; 1 of 2 admitted")
    assert {machine for each in places(cluster.run).values() for machine, _ in each} == {ONE}


def test_a_slot_whose_loads_fail_is_retired_and_its_machines_file_says_why(tmp_path):
    script = {FIRST: ["waits"], "starved slots": [f"{TWO}/1"]}
    cluster = SyntheticCluster(tmp_path, script, PLAN.replace("3\n", "30\n"))
    has_joined = machine_file(cluster.run, TWO).exists
    assert with_a_later_one(cluster, has_joined).done == 180
    [line] = cluster.told
    assert line.startswith("slot 1 of machine two is retired: ")
    [retired] = read_machines(cluster.run)[TWO]["retired"]
    assert retired["slot"] == 1 and line.endswith(retired["reason"])
    starved = [t for t in iterate_trials(cluster.run) if t.record["outcome"] == "starved"]
    assert {trial.record["host"]["machine"] for trial in starved} == {TWO}


def test_a_machine_that_dies_of_whatever_it_gets_is_told_and_costs_no_block(tmp_path):
    script = {FIRST: ["waits"], "dying slots": [f"{TWO}/1"]}
    cluster = SyntheticCluster(tmp_path, script, PLAN.replace("3\n", "6\n"))
    assert with_a_later_one(cluster, lambda: cluster.told).done == 36
    [line] = cluster.told
    assert line == (
        "slot 1 of machine two is retired: it was lost 3 or more times in a row, each with a block"
    )
    assert {trial.record["outcome"] for trial in iterate_trials(cluster.run)} == {"ok"}
    assert {machine for each in places(cluster.run).values() for machine, _ in each} == {ONE}


def test_if_it_is_alone_here_the_run_ends_with_what_it_said(tmp_path, monkeypatch):
    cluster = SyntheticCluster(tmp_path, {"dying slots": [f"{machine_id()}/1"]})
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    monkeypatch.setattr(driver, "PlanQuestions", lambda *_: Questions())
    monkeypatch.setattr(driver, "BlockWork", partial(BlockWork, load=cluster_stub.load))
    site = SimpleNamespace(
        name="startup", digest=cluster.recording.digest, path=Path(cluster.recording.path),
        variants={},
    )  # fmt: skip
    local = driver.cluster_driver(
        "local:1",
        cluster.run,
        cluster.plan,
        [site],
        Execution(),
        allow_heterogeneous=False,
        report=print,
    )
    with pytest.raises(LaterError, match=r"slot 1 of machine .* is retired: it was lost 3 or more"):
        run_trials(cluster.trials(), {}, cluster.run, lambda _: None, driver=local)
    assert len(list_committed(cluster.run)) == 3, "of one block nobody can know"
