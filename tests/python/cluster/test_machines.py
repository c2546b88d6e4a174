"""Machines of a real cluster: each record says where it was made; who differs takes no block."""

from collections import defaultdict
from threading import Thread

import pytest
from cluster_stub import InItsGroup, Questions
from made_up_cluster import PLAN, MadeUpCluster, until

from eyelevel.cluster.names import machine_id
from eyelevel.run.machines.slot_cgroup import slot_group
from eyelevel.store.directory import iterate_trials
from eyelevel.store.machines import machine_file, read_machines

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
    cluster = MadeUpCluster(tmp_path, {FIRST: ["waits"]})
    cluster.slots_each = 2
    assert with_a_later_one(cluster, machine_file(cluster.run, TWO).exists).done == 18
    of_blocks = places(cluster.run)
    assert all(len(each) == 1 for each in of_blocks.values()) and len(of_blocks) == 6
    slots = set.union(*of_blocks.values())
    kept = read_machines(cluster.run)
    assert {machine: each["name"] for machine, each in kept.items()} == {ONE: "one", TWO: "two"}
    assert slots <= {(machine, number) for machine in kept for number in (1, 2)}
    assert len(slots) > 1


def test_a_slot_is_in_a_cgroup_of_its_own_and_none_is_left(tmp_path):
    with slot_group(99) as group:
        if group is None:
            pytest.skip("no cgroup of version 2 may be made here")
    cluster = MadeUpCluster(tmp_path, {})
    cluster.questions = InItsGroup()
    assert cluster.to_its_end("one").done == 18
    facts = read_machines(cluster.run)[ONE]["facts"]
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
    cluster = MadeUpCluster(tmp_path, {FIRST: ["waits"]})
    cluster.questions = Questions(kernels={TWO: "6.6"})
    assert with_a_later_one(cluster, lambda: cluster.told).done == 18
    assert {machine for each in places(cluster.run).values() for machine, _ in each} == {ONE}
    assert cluster.told == [
        "machine two is refused: its kernel is 6.6 and not 6.1, unlike one; --mixed takes it as "
        "another class; 1 of 2 admitted"
    ]


def test_a_slot_whose_loads_fail_is_retired_and_its_machines_file_says_why(tmp_path):
    script = {FIRST: ["waits"], "starved slots": [f"{TWO}/1"]}
    cluster = MadeUpCluster(tmp_path, script, PLAN.replace("3\n", "30\n"))
    has_joined = machine_file(cluster.run, TWO).exists
    assert with_a_later_one(cluster, has_joined).done == 180
    [line] = cluster.told
    assert line.startswith("slot 1 of machine two is retired: ")
    [retired] = read_machines(cluster.run)[TWO]["retired"]
    assert retired["slot"] == 1 and line.endswith(retired["reason"])
    starved = [t for t in iterate_trials(cluster.run) if t.record["outcome"] == "starved"]
    assert {trial.record["host"]["machine"] for trial in starved} == {TWO}
