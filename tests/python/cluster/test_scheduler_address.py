"""One worker a machine and scheduler, whose slots try again ever more rarely."""

import json
import os
import shutil
import subprocess
import sys
from functools import partial

import pytest
from synthetic_cluster import SyntheticCluster, until
from timeouts import TEST_TIMEOUT_S

from eyelevel.base.errors import StoreError
from eyelevel.cluster.connection import ClusterError
from eyelevel.cluster.trust import Credentials
from eyelevel.cluster.worker import LASTED_S, PAUSE_S_MAX, Backoff, SchedulerAddress, only_worker
from eyelevel.run.study.loop import run_trials

pytestmark = pytest.mark.full

ADDRESS = "tcp://127.0.0.1:1"


def test_a_second_worker_for_a_scheduler_is_refused_until_the_first_has_ended():
    with only_worker("m", ADDRESS):
        with only_worker("n", ADDRESS), only_worker("m", "tcp://127.0.0.1:2"):
            pass
        with pytest.raises(ClusterError, match="already has an eyelevel worker for it; stop that"):
            only_worker("m", ADDRESS).__enter__()
    with only_worker("m", ADDRESS):
        pass


def test_tries_become_rarer_and_what_is_said_is_said_once_until_it_held():
    said = []
    backoff = Backoff(said.append)
    assert [backoff.pause_after("nobody") for _ in range(7)] == [1, 2, 4, 8, 16, 30, PAUSE_S_MAX]
    assert said == ["nobody; trying again"]
    backoff.pause_after("no way")
    assert len(said) == 2
    assert backoff.pause_after("no way", LASTED_S) == 1 and len(said) == 3


@pytest.fixture
def file(tmp_path):
    return tmp_path / "run" / "scheduler.json"


def written(file, address):
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"address": address}))


def test_a_file_that_is_not_there_yet_is_waited_for_and_that_is_said_once(file):
    said = []
    where = SchedulerAddress(str(file), "m", is_trusted=True, report=said.append)
    assert [where.locate() for _ in range(3)] == [None] * 3
    assert said == [f"waiting for a run that writes {file}; trying again"]
    written(file, ADDRESS)
    assert where.locate().address == ADDRESS
    file.unlink()  # the run has ended
    assert where.locate() is None and len(said) == 2
    where.close()


def test_a_new_address_is_read_and_each_has_one_worker_of_a_machine(file):
    said, other = [], "tcp://127.0.0.1:2"
    written(file, ADDRESS)
    where = SchedulerAddress(str(file), "m", is_trusted=True, report=said.append)
    written(file, other)
    with only_worker("m", other):
        assert where.locate() is None
    assert where.locate().address == other and len(said) == 1
    for address in (ADDRESS, other):
        with pytest.raises(ClusterError, match="already has an eyelevel worker for it"):
            only_worker("m", address).__enter__()
    where.close()
    with only_worker("m", ADDRESS), only_worker("m", other):
        pass


def test_an_address_at_which_others_could_be_is_refused_at_once_and_not_dialled_later(file):
    said, open_one = [], "tcp://10.0.0.7:8786"
    where = SchedulerAddress(str(file), "m", is_trusted=False, report=said.append)
    written(file, open_one)
    assert where.locate() is None and "--trust-network" in said[0]
    for begun in (str(file), open_one):
        with pytest.raises(ClusterError, match="--trust-network"):
            SchedulerAddress(begun, "m", is_trusted=False, report=said.append)
    file.write_text("{}")
    with pytest.raises(StoreError, match="has no scheduler's address; give the"):
        SchedulerAddress(str(file), "m", is_trusted=False, report=said.append)


def test_a_run_of_another_user_gets_no_slots(file):
    run = {"address": "tls://127.0.0.1:1", "credentials": Credentials.new().as_json()}
    file.parent.mkdir()
    file.write_text(json.dumps(run))
    file.chmod(0o600)
    SchedulerAddress(str(file), "m", is_trusted=False, report=lambda _: None).close()
    file.chmod(0o620)
    refused = pytest.raises(ClusterError, match=r"scheduler\.json: another user wrote it or can")
    with refused:
        SchedulerAddress(str(file), "m", is_trusted=False, report=lambda _: None)
    if os.geteuid() == 0:  # nobody else gives files away
        file.chmod(0o600)
        os.chown(file, 65534, 65534)
        with refused:
            SchedulerAddress(str(file), "m", is_trusted=False, report=lambda _: None)


def test_an_address_without_its_protocol_is_no_file_that_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bare = "10.0.0.7:8786"
    with pytest.raises(ClusterError, match=f"write tls://{bare} or tcp://{bare}$"):
        SchedulerAddress(bare, "m", is_trusted=True, report=lambda _: None)
    (tmp_path / bare).write_text(json.dumps({"address": ADDRESS}))
    where = SchedulerAddress(bare, "m", is_trusted=True, report=lambda _: None)
    assert where.locate().address == ADDRESS
    where.close()


def test_one_worker_serves_runs_that_begin_after_it_and_whose_clients_die_before(tmp_path):
    cluster = SyntheticCluster(tmp_path, {})
    file = cluster.run / "scheduler.json"
    written(file, ADDRESS)  # of a client that was killed
    cluster.address = str(file)
    cluster.start("one")
    worker = cluster.workers.pop("one")  # it is not the run's to end
    try:
        for _ in range(2):
            shutil.rmtree(cluster.run / "trials", ignore_errors=True)
            driver = partial(cluster._driver, [])
            result = run_trials(cluster.trials(), {}, cluster.run, lambda _: None, driver=driver)
            assert result.done == 18 and worker.poll() is None
            until(lambda: not file.exists())
    finally:
        worker.terminate()
        worker.communicate()


TWIN = """
import asyncio
from distributed import Scheduler, Worker
from eyelevel.cluster.names import SlotName, machine_id
from eyelevel.cluster.worker import run_slots

async def second():
    here, said = {"host": "127.0.0.1", "dashboard": False}, asyncio.Queue()
    name = str(SlotName(machine_id("twin"), "twin", 1, 1))
    async with (
        Scheduler(port=0, **here) as scheduler,
        Worker(scheduler.address, name=name, nthreads=1, **here),
    ):
        slots = run_slots(
            scheduler.address, 1, host="twin", is_trusted=True, report=said.put_nowait
        )
        trying = asyncio.create_task(slots)
        print(name, await said.get(), sep="\\n")
        trying.cancel()
        await asyncio.gather(trying, return_exceptions=True)

if __name__ == "__main__":
    asyncio.run(second())
"""
"""In a process of its own, whose environment Dask's nanny changes."""


def test_of_two_machines_by_one_name_the_second_says_what_sets_them_apart(tmp_path):
    """Of one image, whose `/etc/machine-id` and host name nobody changed."""
    program = tmp_path / "twin.py"
    program.write_text(TWIN)
    done = subprocess.run(
        [sys.executable, program],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=True,
    )
    name, line = done.stdout.splitlines()
    assert f"has a slot {name} already" in line
    assert line.endswith("so give one of them another host name; trying again")
