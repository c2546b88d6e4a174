"""Answers that are lost, late, damaged or of another program: none is committed, none is missed."""

import os
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from threading import Semaphore, Thread

import pytest
from synthetic_cluster import PLAN, SyntheticCluster, ended, tree, until
from timeouts import TEST_TIMEOUT_S

from eyelevel.base.errors import InputChangedError
from eyelevel.cluster import slots
from eyelevel.cluster.connection import Connection
from eyelevel.cluster.slots import Answers, ClusterSlots
from eyelevel.run.block.inputs import keep_input
from eyelevel.run.block.load import TooLargeError
from eyelevel.store.directory import iterate_trials, list_committed

pytestmark = pytest.mark.full

FIRST = "startup/dsl/1"


def test_a_worker_that_dies_before_its_answer_is_fetched_costs_the_block(
    tmp_path, undisturbed, monkeypatch
):
    cluster = SyntheticCluster(tmp_path, {})
    fetch, killed = Answers.fetch, []

    def fetched_late(self, answer, address):
        if cluster.attempts(FIRST) and not killed:
            killed.append(cluster.process(FIRST))
            os.kill(killed[0], signal.SIGKILL)
            ended(killed[0])
        return fetch(self, answer, address)

    monkeypatch.setattr(Answers, "fetch", fetched_late)
    assert cluster.to_its_end("one").done == 18
    assert killed and cluster.attempts(FIRST) == 2
    assert tree(cluster.run) == undisturbed


def test_while_a_machines_slots_stand_still_with_their_answers_others_go_on(tmp_path, monkeypatch):
    """They are not missed meanwhile: Dask waits a minute for who says nothing. And they are more
    than Dask would fetch answers from at once."""
    plan = PLAN.replace("blocks = 3", "blocks = 6")
    cluster = SyntheticCluster(tmp_path, {}, plan)
    cluster.slots_each = 6
    fetch, stopped = ClusterSlots._fetch, []

    def fetched(self, answer):
        if self._blocks.get(answer.slot) and len(stopped) < cluster.slots_each:
            block = self._blocks[answer.slot][0].trials[0].block
            stopped.append(cluster.process(block))
            os.kill(stopped[-1], signal.SIGSTOP)
        return fetch(self, answer)

    def go_on():
        try:
            until(lambda: len(stopped) == cluster.slots_each)
            cluster.start("two")
            until(lambda: len(list_committed(cluster.run)) == 18)  # of 36: the other six blocks
        finally:
            for process in stopped:
                os.kill(process, signal.SIGCONT)

    monkeypatch.setattr(ClusterSlots, "_fetch", fetched)
    going_on = Thread(target=go_on)
    going_on.start()
    assert cluster.to_its_end("one").done == 36
    going_on.join(TEST_TIMEOUT_S)
    assert tree(cluster.run) == tree(SyntheticCluster(tmp_path / "alone", {}, plan).undisturbed())
    assert len(cluster.attempt_files()) == 12, "no block was begun twice"


@pytest.fixture
def fetching(monkeypatch):
    """Something befalls each fetching of answers of a kind, before it begins."""

    def befalls(kind, what):
        fetch = Answers.fetch

        def fetched(self, answer, address):
            if answer.future.key.startswith(kind):
                what(self._connection.client, answer.future)
            return fetch(self, answer, address)

        monkeypatch.setattr(Answers, "fetch", fetched)

    return befalls


def test_a_client_that_lost_its_way_and_has_it_again_blames_no_slot(
    tmp_path, undisturbed, fetching
):
    """As Dask connects anew by itself, and forgets what it had asked: three times one block, which
    after three losses would be given up, and its slot retired."""
    cluster = SyntheticCluster(tmp_path, {})
    lost = []

    def connect_anew(client, future):
        if len(lost) < 3:
            lost.append(future.key)
            client.loop.add_callback(client.scheduler_comm.comm.abort)
            until(lambda: future.status == "cancelled" and client.status == "running")
            if len(lost) == 3:
                cluster.start("two")

    fetching("load_block", connect_anew)
    assert cluster.to_its_end("one").done == 18
    assert tree(cluster.run) == undisturbed
    assert cluster.attempts(FIRST) == 4 and len(cluster.attempt_files()) == 9


def test_a_connection_that_fails_once_costs_no_block(tmp_path, undisturbed, fetching):
    cluster = SyntheticCluster(tmp_path, {})
    failed = []

    def fail_once(client, future):
        async def failing(**_):
            failed.append(future.key)
            del client.scheduler.gather
            raise OSError("connection reset")

        if not failed:
            client.scheduler.gather = failing

    fetching("load_block", fail_once)
    assert cluster.to_its_end("one").done == 18
    assert tree(cluster.run) == undisturbed
    assert failed and len(cluster.attempt_files()) == 6


@pytest.fixture
def cut_off(monkeypatch):
    """The keys of answers that the scheduler cannot fetch, as if a firewall of the slot's machine
    were in the way; soon given up."""
    monkeypatch.setattr(slots, "UNREACHED_S", 0.1)
    cut, fetch = set(), Answers.fetch

    def fetched(self, answer, address):
        scheduler = self._connection.client.scheduler
        gather = vars(scheduler).pop("gather", None) or scheduler.gather

        async def answered(keys):
            unreached = cut.intersection(keys)
            return {"status": "error", "keys": keys} if unreached else await gather(keys=keys)

        scheduler.gather = answered
        return fetch(self, answer, address)

    monkeypatch.setattr(Answers, "fetch", fetched)
    return cut


def test_a_machine_that_the_scheduler_cannot_reach_is_refused_with_what_to_do(
    tmp_path, cut_off, fetching
):
    cluster = SyntheticCluster(tmp_path, {})

    def cut_first_off(_, future):
        if not cut_off:
            cut_off.add(future.key)
            cluster.start("two")

    fetching("describe_machine", cut_first_off)
    assert cluster.to_its_end("one").done == 18
    (line,) = cluster.told
    assert "was refused: the scheduler could not fetch its answer from tcp://127.0.0.1:" in line
    assert "; open the ports of that machine to it; " in line


def test_a_block_whose_answer_cannot_be_fetched_is_given_up_with_what_to_do(
    tmp_path, cut_off, fetching
):
    cluster = SyntheticCluster(tmp_path, {})

    def cut_first_block_off(_, future):
        last = max(cluster.attempt_files(), key=lambda file: file.stat().st_mtime_ns)
        if last.name.startswith(FIRST.replace("/", "_")):
            cut_off.add(future.key)

    fetching("load_block", cut_first_block_off)
    assert cluster.to_its_end("one").done == 18
    records = [trial.record for trial in iterate_trials(cluster.run)]
    failed = [each for each in records if each["outcome"] != "ok"]
    assert {each["trial"]["block"] for each in failed} == {FIRST} and len(failed) == 3
    assert all("; open the ports of that machine to it" in e["outcome_detail"] for e in failed)


@pytest.mark.parametrize("fate", ["fails", "damages its answer"])
def test_what_is_no_answer_costs_the_block_and_its_slot_begins_anew(tmp_path, undisturbed, fate):
    cluster = SyntheticCluster(tmp_path, {FIRST: [fate]})
    assert cluster.to_its_end("one").done == 18
    assert tree(cluster.run) == undisturbed and cluster.attempts(FIRST) == 2
    assert cluster.process(FIRST, 0) != cluster.process(FIRST, 1)


def test_a_slot_that_is_being_ended_takes_no_block_meanwhile(tmp_path, undisturbed, monkeypatch):
    cluster = SyntheticCluster(tmp_path, {FIRST: ["fails"]})
    looks, polled, restart = Semaphore(0), ClusterSlots._poll, Connection.restart

    def counted(self):
        events = polled(self)
        looks.release()
        return events

    def late(self, *arguments):
        while looks.acquire(blocking=False):
            pass
        for _ in range(2):
            assert looks.acquire(timeout=TEST_TIMEOUT_S)
        restart(self, *arguments)

    monkeypatch.setattr(ClusterSlots, "_poll", counted)
    monkeypatch.setattr(Connection, "restart", late)
    assert cluster.to_its_end("one").done == 18
    assert tree(cluster.run) == undisturbed
    assert cluster.process(FIRST, 0) != cluster.process(FIRST, 1)
    assert len(cluster.attempt_files()) == 7


def test_a_fault_of_the_program_is_told_where_its_block_is_given_up(tmp_path):
    cluster = SyntheticCluster(tmp_path, {FIRST: ["fails"] * 3})
    assert cluster.to_its_end("one").done == 18
    records = [trial.record for trial in iterate_trials(cluster.run)]
    failed = [each for each in records if each["outcome"] != "ok"]
    assert {each["trial"]["block"] for each in failed} == {FIRST} and len(failed) == 3
    for each in failed:
        assert "(RuntimeError: a fault of the program)" in each["outcome_detail"]


def test_a_block_that_leaves_too_much_ends_the_run_in_one_line(tmp_path):
    cluster = SyntheticCluster(tmp_path, {FIRST: ["leaves too much"]})
    with pytest.raises(TooLargeError, match=r"^a block may leave 1 GiB$"):
        cluster.to_its_end("one")
    assert cluster.attempts(FIRST) == 1


def test_a_worker_that_joins_late_takes_blocks_too(tmp_path, undisturbed):
    cluster = SyntheticCluster(tmp_path, {FIRST: ["waits"]})

    def join():
        # It is at its gate when somebody can write there; it goes on when the other has a block.
        with cluster.gate(FIRST).open("wb"):
            cluster.start("two")
            until(lambda: len({file.read_text() for file in cluster.attempt_files()}) > 1)

    joining = Thread(target=join)
    joining.start()
    assert cluster.to_its_end("one").done == 18
    joining.join(TEST_TIMEOUT_S)
    assert tree(cluster.run) == undisturbed
    machines = {trial.record["host"]["machine"] for trial in iterate_trials(cluster.run)}
    assert len(machines) == 2


def test_a_recording_that_changes_amid_a_run_ends_it_until_it_is_restored(tmp_path, undisturbed):
    cluster = SyntheticCluster(tmp_path, {FIRST: ["waits"]})
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
    changing.join(TEST_TIMEOUT_S)
    assert list_committed(cluster.run) == set()
    file.write_bytes(whole)
    assert cluster.to_its_end("one").done == 18
    assert tree(cluster.run) == undisturbed


def test_a_recording_that_a_machine_does_not_see_is_sent_once_to_it(
    tmp_path, undisturbed, monkeypatch, recwarn
):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    cluster = SyntheticCluster(tmp_path, {})
    cluster.slots_each = 2
    cluster.tell(padding="x" * 12_000_000)  # Dask would warn of 10 MB and more
    cluster.recording = replace(cluster.recording, path=str(hidden / "script.json"))
    shutil.copy(cluster.site / "script.json", hidden)
    hide = f'mount -t tmpfs none {hidden} && XDG_CACHE_HOME={tmp_path}/cache exec "$@"'
    cluster.prefixes["one"] = ["unshare", "-rm", "sh", "-c", hide, "sh"]
    if subprocess.run(["unshare", "-rm", "true"], check=False).returncode != 0:
        pytest.skip("no namespaces can be made here")
    sent, asked = [], Answers.ask

    def counted(self, slot, us, address, function, *arguments):
        sent.extend([slot] * (function is keep_input))
        return asked(self, slot, us, address, function, *arguments)

    monkeypatch.setattr(Answers, "ask", counted)
    assert cluster.to_its_end("one").done == 18
    assert tree(cluster.run) == undisturbed
    assert len(sent) == 1 and [str(each.message) for each in recwarn] == []
    assert {trial.record["host"]["slot"] for trial in iterate_trials(cluster.run)} == {1, 2}
