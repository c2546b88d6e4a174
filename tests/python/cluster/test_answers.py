"""Answers that are lost, late, damaged or of another program: none is committed, none is missed."""

import os
import signal
from pathlib import Path
from threading import Thread

import pytest
from hang import HANG_S
from made_up_cluster import MadeUpCluster, ended, tree, until

from eyelevel.cluster.slots import ClusterSlots
from eyelevel.errors import InputChangedError
from eyelevel.run.block.load import TooLargeError
from eyelevel.store.directory import committed, iterate_trials

FIRST = "startup/dsl/1"


def test_a_worker_that_dies_before_its_answer_is_fetched_costs_the_block(
    tmp_path, undisturbed, monkeypatch
):
    cluster = MadeUpCluster(tmp_path, {})
    over, killed = ClusterSlots._over, []

    def over_late(self, slot, future):
        if self._blocks.get(slot) and cluster.attempts(FIRST) and not killed:
            killed.append(cluster.process(FIRST))
            os.kill(killed[0], signal.SIGKILL)
            ended(killed[0])
        return over(self, slot, future)

    monkeypatch.setattr(ClusterSlots, "_over", over_late)
    assert cluster.to_its_end("one").done == 18
    assert killed and cluster.attempts(FIRST) == 2
    assert tree(cluster.run) == undisturbed


@pytest.mark.parametrize("fate", ["fails", "damages its answer"])
def test_what_is_no_answer_costs_the_block_and_its_slot_begins_anew(tmp_path, undisturbed, fate):
    cluster = MadeUpCluster(tmp_path, {FIRST: [fate]})
    assert cluster.to_its_end("one").done == 18
    assert tree(cluster.run) == undisturbed and cluster.attempts(FIRST) == 2
    assert cluster.process(FIRST, 0) != cluster.process(FIRST, 1)


def test_a_fault_of_the_program_is_told_where_its_block_is_given_up(tmp_path):
    cluster = MadeUpCluster(tmp_path, {FIRST: ["fails"] * 3})
    assert cluster.to_its_end("one").done == 18
    records = [trial.record for trial in iterate_trials(cluster.run)]
    failed = [each for each in records if each["outcome"] != "ok"]
    assert {each["trial"]["block"] for each in failed} == {FIRST} and len(failed) == 3
    for each in failed:
        assert "(RuntimeError: a fault of the program)" in each["outcome_detail"]


def test_a_block_that_leaves_too_much_ends_the_run_in_one_line(tmp_path):
    cluster = MadeUpCluster(tmp_path, {FIRST: ["leaves too much"]})
    with pytest.raises(TooLargeError, match=r"^a block may leave 1 GiB$"):
        cluster.to_its_end("one")
    assert cluster.attempts(FIRST) == 1


def test_a_worker_that_joins_late_takes_blocks_too(tmp_path, undisturbed):
    cluster = MadeUpCluster(tmp_path, {FIRST: ["waits"]})

    def join():
        # It is at its gate when somebody can write there; it goes on when the other has a block.
        with cluster.gate(FIRST).open("wb"):
            cluster.start("two")
            until(lambda: len({file.read_text() for file in cluster.attempt_files()}) > 1)

    joining = Thread(target=join)
    joining.start()
    assert cluster.to_its_end("one").done == 18
    joining.join(HANG_S)
    assert tree(cluster.run) == undisturbed
    machines = {trial.record["host"]["machine"] for trial in iterate_trials(cluster.run)}
    assert len(machines) == 2


def test_a_recording_that_changes_amid_a_run_ends_it_until_it_is_restored(tmp_path, undisturbed):
    cluster = MadeUpCluster(tmp_path, {FIRST: ["waits"]})
    file = Path(cluster.recording.path)
    whole = file.read_bytes()

    def change():
        # Who comes after this one sees another file, and asks for the plan's.
        with cluster.gate(FIRST).open("wb"):
            file.write_bytes(whole + b" ")
            os.kill(cluster.process(FIRST), signal.SIGKILL)

    changing = Thread(target=change)
    changing.start()
    with pytest.raises(InputChangedError, match=r"changed since the plan was read; restore it"):
        cluster.to_its_end("one")
    changing.join(HANG_S)
    assert committed(cluster.run) == set()
    file.write_bytes(whole)
    assert cluster.to_its_end("one").done == 18
    assert tree(cluster.run) == undisturbed
