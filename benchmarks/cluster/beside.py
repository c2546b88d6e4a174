"""Real loads here and on `local:1`, in turns: what the cluster adds to a load, and to its time."""

import math
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "tests" / "helpers"))

import cluster_stub

from benchmarks.shared.command import Figure
from eyelevel.cluster.admission import Admissions, Submit
from eyelevel.cluster.connection import Connection
from eyelevel.cluster.scheduler import SchedulerChoice, connect
from eyelevel.cluster.slots import ClusterSlots
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import Trial
from eyelevel.run.block.inputs import Input
from eyelevel.run.block.load import BlockWork
from eyelevel.run.machines.fleet import read_fleet
from eyelevel.run.study.dispatch import Block
from eyelevel.run.study.loop import Driver, Interrupted, run_trials
from eyelevel.run.study.prepare import prepare
from eyelevel.run.study.progress import Accounts
from eyelevel.run.study.slots import Event, SlotAdded, Slots
from eyelevel.sites.recorded import open_site
from eyelevel.store.directory import read_trial

BLOCKS = int(os.environ.get("BLOCKS", 40))
"""The environment variable: fewer, for a look."""
SITE = "agency"
PLAN = f"""sites = ["{SITE}"]
networks = ["lte"]
stacks = ["tcp+", "quic"]
reference = "tcp+"
blocks = {BLOCKS}
"""


class Again:
    """Slots that were there before this run of a block: they join it first."""

    def __init__(self, slots: ClusterSlots, joined: list[SlotAdded]) -> None:
        self._slots, self._joined, self._is_first = slots, joined, True

    def start(self, slot: str, block: Block) -> None:
        """Implement `Slots.start`."""
        self._slots.start(slot, block)

    def restart(self, slot: str) -> None:
        """Implement `Slots.restart`."""
        self._slots.restart(slot)

    def wait(self) -> Sequence[Event]:
        """Implement `Slots.wait`."""
        is_first, self._is_first = self._is_first, False
        if is_first and self._joined:
            return list(self._joined)
        events = self._slots.wait()
        self._joined += [event for event in events if isinstance(event, SlotAdded)]
        return events


def beside() -> Iterator[Figure]:
    """Blocks here, the cluster's processes stopped meanwhile, and there, in turns."""
    site = open_site(SITE)
    plan = parse_plan(PLAN, "plan.toml")
    walls: dict[str, list[float]] = {"here": [], "there": []}
    loads: dict[str, dict[tuple[str, str], float]] = {"here": {}, "there": {}}
    with tempfile.TemporaryDirectory(prefix="eyelevel-bench-") as folder:
        places = {name: Path(folder) / name for name in walls}
        trials = {
            name: prepare(plan, [site], place, resume=False) for name, place in places.items()
        }
        recordings = {SITE: Input(site.digest, str(site.path.resolve()))}
        with connect(SchedulerChoice.of("local:1"), places["there"]) as connection:
            driver = _driver(connection, BlockWork("client", recordings), places["there"])
            for number in range(BLOCKS):
                order = ("here", "there") if number % 2 else ("there", "here")
                for name in order:
                    block = [each for each in trials[name] if each.repetition == number + 1]
                    is_here = name == "here"
                    with stopped(connection, is_asked=is_here):
                        start_s = time.monotonic()
                        run_trials(
                            block,
                            {SITE: str(site.path)},
                            places[name],
                            lambda _: None,
                            driver=None if is_here else driver,
                        )
                        walls[name].append(time.monotonic() - start_s)
                    loads[name] |= _page_load_times(places[name], block)
    del walls["here"][0], walls["there"][0]  # one of them has waited for the slot's start
    ratio = Figure("wall of a block, local:1 against here", "<= 1.03")
    ratio.values += [b / a for a, b in zip(walls["here"], walls["there"], strict=True)]
    yield ratio
    both = loads["here"].keys() & loads["there"].keys()
    logs = [math.log(loads["there"][each] / loads["here"][each]) for each in sorted(both)]
    middle = statistics.mean(logs)
    half = 1.68 * statistics.stdev(logs) / math.sqrt(len(logs))
    change = Figure(f"page load time, {len(logs)} pairs, %, 90 % interval", "in -2 to 2")
    change.values += [100 * (math.exp(each) - 1) for each in (middle - half, middle, middle + half)]
    yield change


def _driver(connection: Connection, work: BlockWork, directory: Path) -> Driver:
    """Return a driver with the same slots for each block, without questions to the machine."""
    made: list[ClusterSlots] = []
    joined: list[SlotAdded] = []
    kept: list[Accounts] = []
    """The last is of the run that is under way."""

    def admissions(submit: Submit) -> Admissions:
        fleet = read_fleet(directory, allow_heterogeneous=False)
        return Admissions(submit, cluster_stub.Questions(), fleet, directory, lambda _: None)

    @contextmanager
    def driver(accounts: Accounts, interrupted: Interrupted) -> Iterator[Slots]:
        kept.append(accounts)
        if not made:
            slots = ClusterSlots(connection, work, lambda t: kept[-1].start(t), admissions)
            made.append(slots)
        yield Again(made[0], joined)

    return driver


@contextmanager
def stopped(connection: Connection, *, is_asked: bool) -> Iterator[None]:
    """Suspend the slots' processes."""
    pids = list(connection.client.run(os.getpid).values()) if is_asked else []
    parents = list(connection.client.run(os.getppid).values()) if is_asked else []
    for pid in (*parents, *pids):
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in (*pids, *parents):
            os.kill(pid, signal.SIGCONT)


def _page_load_times(directory: Path, block: Sequence[Trial]) -> dict[tuple[str, str], float]:
    """Return the page load times of the block's good loads, by block and stack."""
    records = [read_trial(directory, trial.hash).record for trial in block]
    return {
        (each["trial"]["block"], each["trial"]["stack"]): each["navigation"]["page_load_time_ms"]
        for each in records
        if each["outcome"] == "ok"
    }
