"""Whatever befalls slots, machines and the client: each trial is there once, each block whole."""

import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from threading import Event, Thread

import pytest
from synthetic_cluster import SyntheticCluster, tree
from timeouts import TEST_TIMEOUT_S

from eyelevel.analysis.run_files import list_kept_columns
from eyelevel.analysis.trials.table import trials_table
from eyelevel.base.errors import LaterError
from eyelevel.cluster import connection
from eyelevel.cluster.connection import ClusterError, Connection, SchedulerLostError
from eyelevel.run.study import loop
from eyelevel.store.directory import iterate_trials, list_committed

FIRST = "startup/dsl/1"


def test_a_clusters_run_is_the_one_that_a_machine_alone_gives(tmp_path, undisturbed):
    cluster = SyntheticCluster(tmp_path, {})
    result = cluster.to_its_end("one", "two")
    assert (result.done, result.total, result.interrupted) == (18, 18, False)
    assert tree(cluster.run) == undisturbed
    assert not (cluster.run / "scheduler.json").exists()
    assert_rows_came_with_the_trials(cluster.run)
    assert all(cluster.attempts(block) == 1 for block in {t.block for t in cluster.trials()})


def assert_rows_came_with_the_trials(directory):
    def nobody(record, frames):
        raise AssertionError("a row is computed again")

    columns = list_kept_columns()
    came = trials_table(directory, replace(columns, measure=nobody))
    shutil.rmtree(directory / "rows", ignore_errors=True)
    (directory / "trials.parquet").unlink()
    assert came.height == 18 and came.equals(trials_table(directory, columns))


def test_lost_workers_cost_their_blocks_which_are_run_again_whole(tmp_path, undisturbed):
    fates = ["killed before", "killed amid", "killed at its end", "killed with its nanny"]
    blocks = [FIRST, "startup/lte/1", "startup/dsl/2", "startup/lte/3"]  # not all in a row
    cluster = SyntheticCluster(tmp_path, {b: [fate] for b, fate in zip(blocks, fates, strict=True)})
    assert cluster.to_its_end("one", "two").done == 18
    assert tree(cluster.run) == undisturbed
    attempts = {block: cluster.attempts(block) for block in {t.block for t in cluster.trials()}}
    assert attempts == {block: 1 + (block in blocks) for block in attempts} and len(attempts) == 6


def test_slots_here_that_end_with_their_command_end_the_run_until_it_is_resumed(
    tmp_path, undisturbed, monkeypatch
):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    cluster = SyntheticCluster(tmp_path, {FIRST: ["killed with its nanny"]})
    with pytest.raises(LaterError, match=r"their process \d+ ended unasked, with status -9; what"):
        cluster.to_its_end()
    assert cluster.to_its_end().done == 18
    assert tree(cluster.run) == undisturbed and cluster.attempts(FIRST) == 2


def test_a_block_that_takes_three_slots_with_it_is_given_up_with_their_names(tmp_path):
    cluster = SyntheticCluster(tmp_path, {FIRST: ["killed amid"] * 9})
    assert cluster.to_its_end("one", "two").done == 18
    assert cluster.attempts(FIRST) == 3
    records = [trial.record for trial in iterate_trials(cluster.run)]
    failed = [each for each in records if each["outcome"] != "ok"]
    assert {each["trial"]["block"] for each in failed} == {FIRST} and len(failed) == 3
    for each in failed:
        assert each["outcome"] == "lab-failed"
        assert each["outcome_detail"].startswith("its block was lost 3 times, with a slot of ")


def test_a_block_that_takes_longer_than_its_limits_is_ended_with_its_slot(
    tmp_path, undisturbed, monkeypatch
):
    cluster = SyntheticCluster(tmp_path, {FIRST: ["waits"]})
    over = []

    def limit_s(trials, retries, host_wait_s):
        if trials[0].block == FIRST and cluster.attempts(FIRST) and not over:
            over.append(True)
            return 0.0
        return math.inf

    monkeypatch.setattr(loop, "block_limit_s", limit_s)
    assert cluster.to_its_end("one").done == 18
    assert tree(cluster.run) == undisturbed and cluster.attempts(FIRST) == 2


@contextmanager
def scheduler(port):
    """One of Dask's own, apart from any run."""
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if found := re.search(r"Scheduler at: +(tcp://127.0.0.1:(\d+))", line):
                break
        drained = Thread(target=process.stderr.read)
        drained.start()
        try:
            yield process, found[1], int(found[2])
        finally:
            process.kill()
            drained.join()


def test_a_lost_scheduler_costs_what_was_under_way_and_is_waited_for(tmp_path, undisturbed):
    cluster = SyntheticCluster(tmp_path, {FIRST: ["waits"]})
    with ExitStack() as stack:
        first, cluster.where, port = stack.enter_context(scheduler(0))

        def replaced():
            # It is at its gate when somebody can write there: then its scheduler goes.
            with cluster.gate(FIRST).open("wb"):
                first.kill()
                first.wait()
            stack.enter_context(scheduler(port))

        replacing = Thread(target=replaced, daemon=True)
        replacing.start()
        assert cluster.to_its_end("one").done == 18
        replacing.join()
    assert tree(cluster.run) == undisturbed and cluster.attempts(FIRST) == 2


def test_a_second_run_is_refused_a_schedulers_slots_with_the_firsts_name(tmp_path):
    with scheduler(0) as (_, address, _):
        with Connection(address, tmp_path / "first") as first:
            beating = Thread(target=beat_until, args=(first, done := Event()))
            beating.start()
            with pytest.raises(ClusterError, match=r"process .*first is using it"):
                Connection(address, tmp_path / "second").__enter__()
            done.set()
            beating.join()
        with Connection(address, tmp_path / "second"):
            pass


def test_of_two_runs_that_took_a_scheduler_in_the_same_moment_one_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(connection, "BEAT_S", 0.0)
    with scheduler(0) as (_, address, _), Connection(address, tmp_path / "first") as first:
        second = Connection(address, tmp_path / "second")
        monkeypatch.setattr(Connection, "_claim", Connection._tell)  # it found nobody
        with second:
            with pytest.raises(ClusterError, match=r"process .*second is using it"):
                first.beat()
            second.beat()
            first.__exit__(None, None, None)
            second.beat()
            assert second.client.get_metadata([connection.KEY])["owner"] == second._owner


def test_a_run_that_comes_back_leaves_the_scheduler_to_the_one_that_has_it(tmp_path, monkeypatch):
    with scheduler(0) as (_, address, _), Connection(address, tmp_path / "first") as first:
        first.client.close()  # as when its network was gone for a while
        monkeypatch.setattr(Connection, "_claim", Connection._tell)  # it was silent for long enough
        with Connection(address, tmp_path / "second") as second:
            with pytest.raises(ClusterError, match=r"process .*second is using it"):
                first.dial()
            assert second.client.get_metadata([connection.KEY])["owner"] == second._owner


def test_a_scheduler_whose_client_died_is_taken_over_once_it_was_silent(tmp_path, monkeypatch):
    monkeypatch.setattr(connection, "SILENCE_S", 0.5)
    monkeypatch.setattr(connection, "BEAT_S", 0.2)
    with scheduler(0) as (_, address, _):
        dead = Connection(address, tmp_path / "first")
        dead.__enter__()
        dead.client.close()  # as when it is killed: nothing is taken back
        with Connection(address, tmp_path / "second") as second:
            assert second.client.get_metadata([connection.KEY])["owner"] == second._owner


def test_a_scheduler_that_stays_away_ends_the_run_for_later(tmp_path, monkeypatch):
    monkeypatch.setattr(connection, "RETRY_S", 0.1)
    waiting = Connection("tcp://127.0.0.1:1", tmp_path)
    waiting._lost_s = time.monotonic()
    assert waiting.dial() is False
    monkeypatch.setattr(connection, "WITHOUT_S_MAX", 0.0)
    with pytest.raises(
        SchedulerLostError, match=r"disappeared and did not come back .* kept: start it again$"
    ):
        waiting.dial()


def test_a_worker_that_is_gone_is_not_begun_again(tmp_path):
    with scheduler(0) as (_, address, _), Connection(address, tmp_path) as connection:
        connection.restart(["tcp://127.0.0.1:1"])


def beat_until(connection, done):
    while not done.wait(0.2):
        connection.beat()


CLIENT = """
import os, signal, sys
from pathlib import Path
from eyelevel.store.disk import watch_steps
from synthetic_cluster import SyntheticCluster
folder, step, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
seen = []
def kill(reached):
    seen.append(reached)
    if seen.count(step) == count:
        os.kill(os.getpid(), signal.SIGKILL)
with watch_steps(kill):
    SyntheticCluster(folder, {}).to_its_end()
"""


@pytest.mark.parametrize("step", ["block files", "trial renamed"])
def test_a_client_that_dies_is_resumed_and_leaves_no_worker(tmp_path, undisturbed, step):
    paths = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": paths, "TMPDIR": str(tmp_path)}

    def client(count):
        # This waits for all who hold standard error: workers that stayed would hang it.
        command = [sys.executable, "-c", CLIENT, str(tmp_path), step, str(count)]
        done = subprocess.run(
            command, env=environment, timeout=TEST_TIMEOUT_S, capture_output=True, text=True
        )
        return done.returncode, done.stderr

    assert client(2)[0] == -signal.SIGKILL
    assert 0 < len(list_committed(tmp_path / "run")) < 18
    status, said = client(99)  # to its end
    assert status == 0, said
    assert tree(tmp_path / "run") == undisturbed
