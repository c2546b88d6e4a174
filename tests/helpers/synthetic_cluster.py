"""A real cluster of Dask's on this machine, with loads that are made up."""

import gzip
import hashlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from inspect import unwrap
from pathlib import Path
from types import MappingProxyType

import cluster_stub
from cluster_stub import ATTEMPTS, GATES, SCRIPT
from distributed import Scheduler
from synthetic_run import environment
from timeouts import TEST_TIMEOUT_S

from eyelevel.cluster import settings
from eyelevel.cluster.admission import Admissions, Submit
from eyelevel.cluster.scheduler import SchedulerChoice, connect
from eyelevel.cluster.slots import ClusterSlots
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import Site, Trial
from eyelevel.run.block.inputs import Input
from eyelevel.run.block.load import BlockWork
from eyelevel.run.machines.fleet import read_fleet
from eyelevel.run.study.loop import Interrupted, RunResult, run_trials
from eyelevel.run.study.prepare import begin_study
from eyelevel.run.study.progress import Accounts
from eyelevel.run.study.slots import Slots
from eyelevel.store.commit import write_trial
from eyelevel.store.directory import ENVIRONMENT_FILE, RECORD_FILE, TRIALS, write_document
from eyelevel.store.pictures import PICTURES

PLAN = """sites = ["startup"]
networks = ["dsl", "lte"]
stacks = ["tcp", "quic", "tcp+"]
reference = "tcp"
blocks = 3
"""
WORKER = """
import asyncio, sys
from eyelevel.cluster.worker import run_slots
address, count, machine = sys.argv[1:]
asyncio.run(run_slots(address, int(count), host=machine, is_trusted=True, while_open=True))
"""


PLACE = ("machine", "slot")


def tree(directory: Path) -> dict[str, object]:
    """Return all that loads left: the content of each file."""
    folders = [directory / TRIALS, directory / PICTURES]
    files = (file for folder in folders for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(directory)): _content_of(file) for file in files}


def ended(pid: int) -> None:
    """Wait for the end of a process that is not ours to wait for."""
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        try:
            assert select.select([descriptor], [], [], TEST_TIMEOUT_S)[0], f"process {pid} hangs"
        finally:
            os.close(descriptor)


def until(holds: Callable[[], bool], look_s: float = 0.01) -> None:
    """Wait for what others do, looking every `look_s`."""
    deadline_s = time.monotonic() + TEST_TIMEOUT_S
    while not holds():
        assert time.monotonic() < deadline_s, "it does not come"
        select.select([], [], [], look_s)


def quick() -> None:
    """Workers that say nothing are taken for lost as soon as Dask can, which is after 5 s, and
    what they are asked then is given up after 2."""
    ours = {**settings.OURS, "distributed.scheduler.worker-ttl": "1s"}
    settings.OURS = MappingProxyType(ours)
    unwrap(Scheduler.restart_workers).__kwdefaults__["timeout"] = 2


def _content_of(file: Path) -> object:
    """Return bytes; of a record all but where it was made."""
    if file.name != RECORD_FILE:
        return file.read_bytes()
    record = json.loads(gzip.decompress(file.read_bytes()))
    return record | {"host": {k: v for k, v in record["host"].items() if k not in PLACE}}


class SyntheticCluster:
    """One run of PLAN in `folder`; `script`: what befalls a block's attempts."""

    def __init__(self, folder: Path, script: Mapping[str, Sequence[str]], plan: str = PLAN) -> None:
        self.plan = parse_plan(plan, "plan.toml")
        self.run = folder / "run"
        self.site = folder / "site"
        for name in (ATTEMPTS, GATES):
            (self.site / name).mkdir(parents=True, exist_ok=True)
        stacks = len(self.plan.stacks)
        self._told: dict[str, object] = {**script, "stacks": stacks, "folder": str(self.site)}
        self.tell()
        for block, fates in script.items():
            for attempt, fate in enumerate(fates):
                if fate == "waits":
                    os.mkfifo(self.gate(block, attempt))
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self.prefixes: dict[str, Sequence[str]] = {}
        """What stands before the command of a machine's worker."""
        self.address = ""
        self.where = "listen:127.0.0.1:0"
        self.questions = cluster_stub.Questions()
        self.told: list[str] = []
        """What happened to machines."""
        self.allow_heterogeneous = False
        self.slots_each = 1

    def tell(self, **more: object) -> None:
        """Set what loads find in their recording, before the run."""
        self._told |= more
        (self.site / SCRIPT).write_text(json.dumps(self._told))
        digest = hashlib.sha256((self.site / SCRIPT).read_bytes()).hexdigest()
        self.recording = Input(digest, str(self.site / SCRIPT))

    def gate(self, block: str, attempt: int = 0) -> Path:
        """Return the gate at which an attempt waits."""
        return self.site / GATES / f"{block.replace('/', '_')}.{attempt}"

    def attempts(self, block: str) -> int:
        """Return how often the block was begun."""
        return len(self.attempt_files(block.replace("/", "_")))

    def attempt_files(self, block: str = "") -> list[Path]:
        """One an attempt, with its process's number; of all blocks without one."""
        return list((self.site / ATTEMPTS).glob(f"{block}*"))

    def process(self, block: str, attempt: int = 0) -> int:
        """The number of the one that has or had the block."""
        file = self.site / ATTEMPTS / f"{block.replace('/', '_')}.{attempt}"
        return int(file.read_text().split()[0])

    def machine(self, block: str, attempt: int = 0) -> subprocess.Popen[bytes]:
        """The one that has or had the block."""
        file = self.site / ATTEMPTS / f"{block.replace('/', '_')}.{attempt}"
        machine = int(file.read_text().split()[1])
        return next(each for each in self.workers.values() if each.pid == machine)

    def trials(self) -> list[Trial]:
        """Return all of the plan, which is written."""
        name = self.plan.sites[0]
        sites = [Site(name, f"sha256:{name * 8:.64}")]
        trials = begin_study(self.plan, sites, self.run, resume=True)
        write_document(self.run, ENVIRONMENT_FILE, environment())
        return trials

    def undisturbed(self) -> Path:
        """The run on one machine, without a cluster."""
        for trial in self.trials():
            made = cluster_stub.made_up(trial)
            write_trial(self.run, made.record, made.frames)
        return self.run

    def start(self, machine: str, slots: int = 1) -> None:
        """A machine's worker, which ends with this process, however that ends."""
        command = [*self.prefixes.get(machine, ()), sys.executable, "-c", WORKER, self.address]
        command += [str(slots), machine]
        paths = os.pathsep.join(filter(None, sys.path))
        self.workers[machine] = subprocess.Popen(
            command,
            env={**os.environ, "PYTHONPATH": paths},
            start_new_session=True,
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def _admissions(self, submit: Submit) -> Admissions:
        fleet = read_fleet(self.run, allow_heterogeneous=self.allow_heterogeneous)
        return Admissions(submit, self.questions, fleet, self.run, self.told.append)

    @contextmanager
    def _driver(
        self, machines: Sequence[str], accounts: Accounts, interrupted: Interrupted
    ) -> Iterator[Slots]:
        recordings = {self.plan.sites[0]: self.recording}
        work = BlockWork("client", recordings, load=cluster_stub.load)
        with ExitStack() as stack:
            connection = stack.enter_context(
                connect(SchedulerChoice.of(self.where, is_trusted=True), self.run)
            )
            self.address = connection.address
            stack.callback(self.end)
            for machine in machines:
                self.start(machine, self.slots_each)
            yield ClusterSlots(connection, work, accounts.start, self._admissions)

    @contextmanager
    def _local(self, accounts: Accounts, interrupted: Interrupted) -> Iterator[Slots]:
        work = BlockWork("client", {self.plan.sites[0]: self.recording}, load=cluster_stub.load)
        with connect(SchedulerChoice.of("local:1"), self.run) as connection:
            yield ClusterSlots(connection, work, accounts.start, self._admissions)

    def to_its_end(self, *machines: str) -> RunResult:
        """The run, with a worker a machine; without any, as `--cluster local:1`."""
        driver = partial(self._driver, machines) if machines else self._local
        return run_trials(self.trials(), {}, self.run, lambda _: None, driver=driver)

    def end(self) -> None:
        """End the workers."""
        for worker in self.workers.values():
            worker.terminate()
        for worker in self.workers.values():
            worker.wait(TEST_TIMEOUT_S)
            assert worker.stdin is not None
            worker.stdin.close()
