"""Another user of the machine reaches a run's ports, and is heard at none of them."""

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import cluster_intruder
import pytest
from synthetic_cluster import SyntheticCluster, until
from timeouts import TEST_TIMEOUT_S

from eyelevel.cluster import scheduler as scheduler_module
from eyelevel.cluster.connection import ClusterError
from eyelevel.cluster.scheduler import SCHEDULER_FILE, SchedulerChoice, connect
from eyelevel.cluster.trust import Credentials, check_private

NOBODY = 65534
TRIES = 5


@pytest.fixture
def open_folder(monkeypatch):
    """One that every user may enter, with the temporary files of all processes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "tmp").mkdir(mode=0o777)
        monkeypatch.setenv("TMPDIR", str(folder / "tmp"))
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield folder
    tempfile.tempdir = None


@contextmanager
def one_slot(folder, where):
    """The connection of a run that has one slot, from another process."""
    cluster = SyntheticCluster(folder, {})
    cluster.run.mkdir()
    with connect(SchedulerChoice.of(where), cluster.run) as connection:
        if not where.startswith("local:"):
            cluster.address = str(cluster.run / SCHEDULER_FILE)
            cluster.start("one")
        try:
            yield connection
        finally:
            cluster.end()


def intrusion(connection, folder, credentials=None):
    """What a process of another user reports of its attempts."""
    workers = {}
    until(lambda: workers.update(connection.client.scheduler_info()["workers"]) or workers)
    told = {
        "uid": NOBODY,
        "addresses": [connection.address, *workers, *(each["nanny"] for each in workers.values())],
        "folders": [str(folder)],
        "credentials": credentials and credentials.as_json(),
    }
    done = subprocess.run(
        [sys.executable, cluster_intruder.__file__],
        input=json.dumps(told) + "\n",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=True,
    )
    return json.loads(done.stdout), told["addresses"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
@pytest.mark.parametrize(
    "where",
    ["local:1", "listen:127.0.0.1:0", pytest.param("listen:[::1]:0", marks=pytest.mark.full)],
)
def test_another_user_is_heard_neither_by_scheduler_nor_worker_nor_nanny(
    open_folder, monkeypatch, where
):
    made = []
    monkeypatch.setattr(
        scheduler_module.Credentials,
        "new",
        lambda new=Credentials.new: made.append(new()) or made[-1],
    )
    with one_slot(open_folder, where) as connection:
        for _ in range(TRIES):
            found, addresses = intrusion(connection, open_folder)
            assert len(addresses) == 3 and all(each.startswith("tls://") for each in addresses)
            assert found == {"uid": NOBODY, "heard": {}, "keys": []}
            # With the run's credentials the same process is heard by all: the attempts are real.
            found, again = intrusion(connection, open_folder, made[0])
            if again == addresses and len(found["heard"]) == 3:
                break  # else a slot that began too slowly has begun anew elsewhere
        assert found["heard"] == {f"the run's credentials at {each}": 0 for each in addresses}
        file = open_folder / "run" / SCHEDULER_FILE
        if where.startswith("local:"):
            assert not file.exists()
        else:
            assert (
                file.stat().st_mode & 0o777 == 0o600
                and made[0].key in json.loads(file.read_text())["credentials"].values()
            )
    assert not file.exists()
    left = [each for each in open_folder.rglob("*") if each.is_file()]
    assert not [each for each in left if b"PRIVATE KEY" in each.read_bytes()]


def test_each_run_has_credentials_of_its_own(tmp_path):
    first, second = Credentials.new(), Credentials.new()
    assert first.key != second.key and first.certificate != second.certificate
    assert first.key not in repr(first)
    assert Credentials.of_json(first.as_json()) == first
    assert Credentials.of_line(b"") is None and Credentials.of_json({"key": 1}) is None


def test_a_disk_that_lets_others_read_the_key_is_refused(tmp_path):
    file = tmp_path / SCHEDULER_FILE
    file.touch(0o600)
    check_private(file)
    file.chmod(0o640)
    with pytest.raises(ClusterError, match=r"lets other users read it.*another disk"):
        check_private(file)
