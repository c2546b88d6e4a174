"""A made-up run with a network and disks of its own: a machine's link fails, a disk is full.

Run as a program in namespaces of its own (`unshare -rmn`); it ends with status 0 where the run
ended as if nothing had happened.
"""

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

from fault_runs import fill
from synthetic_cluster import SyntheticCluster, ended, quick, tree, until

from eyelevel.base.errors import StoreError
from eyelevel.store.disk import watch_steps

FIRST = "startup/dsl/1"
NEAR, FAR = "10.77.0.1", "10.77.0.2"
DISK_BYTES = 4_000_000


def link(folder: Path) -> None:
    """The link of the machine that has a block is down until another has the block, too; the first
    answers while the second still loads."""
    cluster = SyntheticCluster(folder, {FIRST: ["waits", "waits"]})
    cluster.where = f"listen:{NEAR}:0"
    _run("ip link add name near type veth peer name far")
    _run(f"ip address add {NEAR}/24 dev near")
    # The device goes with the other machine's last process; the address stays.
    _run(f"ip address add {NEAR}/32 dev lo")
    _run("ip link set near up")
    begin = folder / "begin"
    os.mkfifo(begin)
    wait = f'read _ < {begin}; exec "$@"'
    cluster.prefixes["far"] = ["unshare", "-n", "sh", "-c", wait, "sh"]

    def fail() -> None:
        until(lambda: "far" in cluster.workers)
        far = cluster.workers["far"].pid
        own = Path("/proc/self/ns/net").readlink()
        until(lambda: Path(f"/proc/{far}/ns/net").readlink() != own)
        _run(f"ip link set far netns {far}")
        for words in ("link set lo up", f"address add {FAR}/24 dev far", "link set far up"):
            _run(f"nsenter -t {far} -n ip {words}")
        begin.write_text("\n")
        with cluster.gate(FIRST).open("wb"):
            _run(f"nsenter -t {far} -n ip link set far down")
            cluster.start("near")
            second = cluster.gate(FIRST, 1).open("wb")
            _run(f"nsenter -t {far} -n ip link set far up")
        with second:
            ended(cluster.process(FIRST))

    failing = Thread(target=fail, daemon=True)
    failing.start()
    _assert_whole(cluster, "far")
    failing.join()
    assert cluster.attempts(FIRST) == 2


def client_disk(folder: Path) -> None:
    """The disk of the client is full amid a commit."""
    cluster = SyntheticCluster(folder, {})
    cluster.run.mkdir()
    _small_disk(cluster.run)
    seen: list[str] = []

    def fill_up(step: str) -> None:
        seen.append(step)
        if step == "block files" and seen.count(step) == 3:
            fill(cluster.run)

    with watch_steps(fill_up):
        try:
            cluster.to_its_end("one")
        except StoreError as error:
            assert "the disk is full" in str(error) and "\n" not in str(error), error
        else:
            raise AssertionError("nothing was told")
    (cluster.run / "filler").unlink()
    _assert_whole(cluster, "one")


def worker_disk(folder: Path) -> None:
    """The disk that a load writes to is full."""
    cluster = SyntheticCluster(folder, {FIRST: ["finds a full disk"]})
    small = cluster.site / "small"
    small.mkdir()
    _small_disk(small)
    _assert_whole(cluster, "one")
    assert cluster.attempts(FIRST) == 2


def _assert_whole(cluster: SyntheticCluster, machine: str) -> None:
    assert cluster.to_its_end(machine).done == 18
    assert tree(cluster.run) == tree(_undisturbed(cluster))


def _undisturbed(cluster: SyntheticCluster) -> Path:
    return SyntheticCluster(cluster.run.parent / "undisturbed", {}).undisturbed()


def _small_disk(folder: Path) -> None:
    _run(f"mount -t tmpfs -o size={DISK_BYTES} none {folder}")


def _run(command: str) -> None:
    subprocess.run(command.split(), check=True)


CASES = {"link": link, "client's disk": client_disk, "worker's disk": worker_disk}

if __name__ == "__main__":
    _run("ip link set lo up")
    quick()
    CASES[sys.argv[1]](Path(sys.argv[2]))
