"""Real loads in a slot of `local:1`: what is killed or suspended in the middle of one is never
`ok`, and nothing is left of it."""

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

import cluster_stub
from reaching_site import pack_reaching_site
from suspend import (
    is_running,
    loading_lab,
    main_process,
    processes_below,
    state_and_parent,
    suspend,
    until,
)
from synthetic_run import environment

from eyelevel.cluster.admission import Admissions, Submit
from eyelevel.cluster.connection import Connection
from eyelevel.cluster.scheduler import SchedulerChoice, connect
from eyelevel.cluster.slots import ClusterSlots
from eyelevel.load.host import CGROUP_MOUNTS
from eyelevel.plan.file.parse import parse_plan
from eyelevel.run.block.inputs import Input
from eyelevel.run.block.load import BlockWork
from eyelevel.run.machines.fleet import read_fleet
from eyelevel.run.study.loop import Interrupted, run_trials
from eyelevel.run.study.prepare import begin_study
from eyelevel.run.study.progress import Accounts
from eyelevel.run.study.slots import Slots
from eyelevel.sites.recorded import open_site
from eyelevel.store.directory import ENVIRONMENT_FILE, iterate_trials, write_document

PLAN = """
sites = ["{site}"]
networks = ["{network}"]
stacks = ["tcp+"]
reference = "tcp+"
blocks = {blocks}
capture = false
timeout_s = "{timeout_s}s"
"""
FAULTS_TIMEOUT_S, REACHING_TIMEOUT_S = 60, 15
"""The second page may hang on what does not answer it."""
SECOND = 1.0
STOPPED = ("worker", "lab", "browser")
KILLED = ("lab", "browser", "worker")
"""The last one's block is loaded again."""
SPACES = ("net:", "pid:", "mnt:", "user:", "ipc:", "uts:")
LISTENS = "0A"

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("labs")]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All temporary files of the slots' are there; they find the tests' modules."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    return folder


def run_on(
    connection: Connection, site: Path, out: Path, network: str, blocks: int, timeout_s: int
) -> None:
    """A run of the page in the connection's slots, which are not asked what they are."""
    text = PLAN.format(site=site, network=network, blocks=blocks, timeout_s=timeout_s)
    plan = parse_plan(text, "plan.toml")
    recorded = open_site(plan.sites[0])
    trials = begin_study(plan, [recorded.of_plan()], out, resume=True)
    write_document(out, ENVIRONMENT_FILE, environment())
    recordings = {recorded.name: Input(recorded.digest, str(recorded.path.resolve()))}
    work = BlockWork("client", recordings, retries=0, host_wait_s=0.0)

    def admissions(submit: Submit) -> Admissions:
        fleet = read_fleet(out, allow_heterogeneous=False)
        return Admissions(submit, cluster_stub.Questions(), fleet, out, lambda _: None)

    @contextmanager
    def driver(accounts: Accounts, interrupted: Interrupted) -> Iterator[Slots]:
        yield ClusterSlots(connection, work, accounts.start, admissions)

    run_trials(trials, {}, out, lambda _: None, driver=driver)


class Faults(Thread):
    """What befalls the loads of this process's slot, one a load, in their order."""

    def __init__(self, faults: Sequence[tuple[str, Callable[[int], None]]]) -> None:
        super().__init__(daemon=True)
        self._faults = faults
        self.seen: set[int] = set()
        """Processes that were there."""

    def run(self) -> None:
        lab = None
        for part, befall in self._faults:
            lab = loading_lab(os.getpid(), but=lab)
            slot = state_and_parent(state_and_parent(lab)[1])[1]
            browser = main_process(slot, "chromium")
            self.seen |= set(processes_below(os.getpid()))
            befall({"worker": slot, "lab": lab, "browser": browser}[part])
            gone(lab)


def gone(pid: int) -> None:
    """Wait for its end."""
    until(lambda: None if is_running(pid) else pid, os.getpid())


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def stop_for_a_second(pid: int) -> None:
    suspend(pid, SECOND)


def test_what_is_killed_or_stands_still_in_a_load_is_never_ok_and_leaves_nothing(
    tmp_path: Path, temporary: Path, small_site: Path
) -> None:
    faults = Faults(
        [*((part, stop_for_a_second) for part in STOPPED), *((part, kill) for part in KILLED)]
    )
    out = tmp_path / "out"
    out.mkdir()
    with connect(SchedulerChoice.of("local:1"), out) as connection:
        faults.start()
        run_on(connection, small_site, out, "3gslow", len(STOPPED) + len(KILLED), FAULTS_TIMEOUT_S)
        faults.join()
    records = sorted((each.record for each in iterate_trials(out)), key=repetition)
    assert [repetition(each) for each in records] == [1, 2, 3, 4, 5, 6]
    stopped, lab, browser, worker = records[:3], *records[3:]
    assert [each["outcome"] for each in stopped] == ["starved"] * 3
    named = (
        "the process that drives the load (",
        "the lab was suspended",
        "chromium was suspended",
    )
    for record, words in zip(stopped, named, strict=True):
        assert record["outcome_detail"].startswith(words), record["outcome_detail"]
    assert lab["outcome"] in ("lab-failed", "browser-crashed") != "ok"
    assert browser["outcome"] == "browser-crashed"
    assert worker["outcome"] in (
        "ok",
        "late-packets",
        "starved",
    )  # a machine that is busy is no fault of ours
    assert worker["host"]["suspended"] == []
    assert_nothing_is_left(faults.seen, temporary)
    assert not list(out.rglob(".writing-*")) and not (out / "scheduler.json").exists()


def repetition(record: dict[str, Any]) -> int:
    number: int = record["trial"]["repetition"]
    return number


def assert_nothing_is_left(seen: set[int], temporary: Path) -> None:
    """Not by those that were seen, nor by others that were told of the folder.

    Namespaces, and devices with them, are there for processes, open files and mounts alone.
    """
    assert len(seen) > 20, "browsers were looked at"
    assert list(temporary.iterdir()) == []
    assert told_of(temporary) == []
    descriptors = [link_of(each) for each in Path("/proc/self/fd").iterdir()]
    assert not [link for link in descriptors if link.startswith(SPACES)]
    assert " - nsfs " not in Path("/proc/self/mountinfo").read_text()
    groups = [group for mount in CGROUP_MOUNTS for group in mount.glob("**/eyelevel-slot-*")]
    assert not [group for group in groups if int(group.name.split("-")[2]) in seen]


def told_of(folder: Path) -> list[str]:
    """Processes that have its name in their environment or command line."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with suppress(OSError):
                words = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
                found += [process.name] if str(folder).encode() in words else []
    return found


def link_of(descriptor: Path) -> str:
    try:
        return str(descriptor.readlink())
    except OSError:
        return ""  # the one by which the folder was read


def test_a_page_in_a_slot_reaches_neither_scheduler_nor_worker_nor_a_page_of_theirs(
    tmp_path: Path, temporary: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with ExitStack() as stack:
        connection = stack.enter_context(connect(SchedulerChoice.of("local:1"), out))
        until(lambda: len(connection.client.scheduler_info()["workers"]) or None, os.getpid())
        ports = sorted(listening())
        known = {connection.address, *connection.client.scheduler_info()["workers"]}
        assert {int(address.rpartition(":")[2]) for address in known} <= set(ports)
        for port in ports:
            socket.create_connection(("127.0.0.1", port)).close()  # for whoever may reach it
        own = [address for address in own_addresses() if address != "127.0.0.1"]
        hosts = ["127.0.0.1", "localhost", *own[:1]]
        targets = [f"{host}:{port}" for host in hosts for port in ports]
        site = pack_reaching_site(tmp_path, targets)
        run_on(connection, site, out, "lte", 1, REACHING_TIMEOUT_S)
    (record,) = [each.record for each in iterate_trials(out)]
    tried = {item["url"]: item for item in record["objects"]}
    for port in ports:
        # What is asked on the slot's loopback is asked on the lab's, where nobody listens.
        asked = tried[f"https://127.0.0.1:{port}/fetch"]
        assert asked["failed"] == "net::ERR_CONNECTION_REFUSED", asked
    there = [item for url, item in tried.items() if any(f"//{each}/" in url for each in targets)]
    assert len(there) > len(targets)
    for item in there:
        assert item["status"] is None and not (item["failed"] or "").startswith(REACHED), item


REACHED = tuple(
    f"net::ERR_{how}"
    for how in ("EMPTY_RESPONSE", "INVALID_HTTP_RESPONSE", "SSL_", "CONNECTION_CLOSED")
)
"""How a browser that is connected to one of Dask's ports fails."""


def listening() -> set[int]:
    """The ports at which this process and those below it listen for TCP."""
    sockets = set()
    for pid in (os.getpid(), *processes_below(os.getpid())):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            link = link_of(descriptor)
            sockets |= {link.strip("socket:[]")} if link.startswith("socket:") else set()
    lines = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    return {
        int(fields[1].rpartition(":")[2], 16)
        for fields in lines
        if fields[3] == LISTENS and fields[9] in sockets
    }


def own_addresses() -> list[str]:
    """Of this machine, as its name and its route out have them."""
    found = {each[4][0] for each in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking, suppress(OSError):
        asking.connect(("192.0.2.1", 9))  # sends nothing
        found.add(asking.getsockname()[0])
    return sorted(str(each) for each in found)
