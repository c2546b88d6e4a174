"""Answers that are lost, late, damaged or of another program: none is committed, none is missed."""

import os
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from threading import Semaphore, Thread

import pytest
from hang import HANG_S
from made_up_cluster import PLAN, MadeUpCluster, ended, tree, until

from eyelevel.cluster.connection import Connection
from eyelevel.cluster.slots import ClusterSlots
from eyelevel.errors import InputChangedError
from eyelevel.run.block.inputs import keep_input
from eyelevel.run.block.load import TooLargeError
from eyelevel.store.directory import committed, iterate_trials

FIRST = "startup/dsl/1"


def test_a_worker_that_dies_before_its_answer_is_fetched_costs_the_block(
    tmp_path, undisturbed, monkeypatch
):
    cluster = MadeUpCluster(tmp_path, {})
    fetch, killed = ClusterSlots._fetch, []

    def fetched_late(self, slot, future):
        if self._blocks.get(slot) and cluster.attempts(FIRST) and not killed:
            killed.append(cluster.process(FIRST))
            os.kill(killed[0], signal.SIGKILL)
            ended(killed[0])
        return fetch(self, slot, future)

    monkeypatch.setattr(ClusterSlots, "_fetch", fetched_late)
    assert cluster.to_its_end("one").done == 18
    assert killed and cluster.attempts(FIRST) == 2
    assert tree(cluster.run) == undisturbed


def test_while_a_machines_slots_stand_still_with_their_answers_others_go_on(tmp_path, monkeypatch):
    """They are not missed meanwhile: Dask waits a minute for who says nothing. And they are more
    than Dask would fetch answers from at once."""
    plan = PLAN.replace("blocks = 3", "blocks = 6")
    cluster = MadeUpCluster(tmp_path, {}, plan)
    cluster.slots_each = 6
    fetch, stopped = ClusterSlots._fetch, []

    def fetched(self, slot, future):
        if self._blocks.get(slot) and len(stopped) < cluster.slots_each:
            block = self._blocks[slot][0].trials[0].block
            stopped.append(cluster.process(block))
            os.kill(stopped[-1], signal.SIGSTOP)
        return fetch(self, slot, future)

    def go_on():
        try:
            until(lambda: len(stopped) == cluster.slots_each)
            cluster.start("two")
            until(lambda: len(committed(cluster.run)) == 18)  # of 36: the other six blocks
        finally:
            for process in stopped:
                os.kill(process, signal.SIGCONT)

    monkeypatch.setattr(ClusterSlots, "_fetch", fetched)
    going_on = Thread(target=go_on)
    going_on.start()
    assert cluster.to_its_end("one").done == 36
    going_on.join(HANG_S)
    assert tree(cluster.run) == tree(MadeUpCluster(tmp_path / "alone", {}, plan).undisturbed())
    assert len(cluster.attempt_files()) == 12, "no block was begun twice"


@pytest.mark.parametrize("fate", ["fails", "damages its answer"])
def test_what_is_no_answer_costs_the_block_and_its_slot_begins_anew(tmp_path, undisturbed, fate):
    cluster = MadeUpCluster(tmp_path, {FIRST: [fate]})
    assert cluster.to_its_end("one").done == 18
    assert tree(cluster.run) == undisturbed and cluster.attempts(FIRST) == 2
    assert cluster.process(FIRST, 0) != cluster.process(FIRST, 1)


def test_a_slot_that_is_being_ended_takes_no_block_meanwhile(tmp_path, undisturbed, monkeypatch):
    cluster = MadeUpCluster(tmp_path, {FIRST: ["fails"]})
    looks, polled, restart = Semaphore(0), ClusterSlots._polled, Connection.restart

    def counted(self):
        events = polled(self)
        looks.release()
        return events

    def late(self, *arguments):
        while looks.acquire(blocking=False):
            pass
        for _ in range(2):
            assert looks.acquire(timeout=HANG_S)
        restart(self, *arguments)

    monkeypatch.setattr(ClusterSlots, "_polled", counted)
    monkeypatch.setattr(Connection, "restart", late)
    assert cluster.to_its_end("one").done == 18
    assert tree(cluster.run) == undisturbed
    assert cluster.process(FIRST, 0) != cluster.process(FIRST, 1)
    assert len(cluster.attempt_files()) == 7


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


def test_a_recording_that_a_machine_does_not_see_is_sent_once_to_it(
    tmp_path, undisturbed, monkeypatch, recwarn
):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    cluster = MadeUpCluster(tmp_path, {})
    cluster.slots_each = 2
    cluster.tell(padding="x" * 12_000_000)  # Dask would warn of 10 MB and more
    cluster.recording = replace(cluster.recording, path=str(hidden / "script.json"))
    shutil.copy(cluster.site / "script.json", hidden)
    hide = f'mount -t tmpfs none {hidden} && XDG_CACHE_HOME={tmp_path}/cache exec "$@"'
    cluster.prefixes["one"] = ["unshare", "-rm", "sh", "-c", hide, "sh"]
    if subprocess.run(["unshare", "-rm", "true"], check=False).returncode != 0:
        pytest.skip("no namespaces can be made here")
    sent, submitted = [], ClusterSlots._submitted

    def counted(self, slot, function, *arguments):
        sent.extend([slot] * (function is keep_input))
        return submitted(self, slot, function, *arguments)

    monkeypatch.setattr(ClusterSlots, "_submitted", counted)
    assert cluster.to_its_end("one").done == 18
    assert tree(cluster.run) == undisturbed
    assert len(sent) == 1 and [str(each.message) for each in recwarn] == []
    assert {trial.record["host"]["slot"] for trial in iterate_trials(cluster.run)} == {1, 2}
