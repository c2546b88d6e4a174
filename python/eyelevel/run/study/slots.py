"""The slots of a run on this machine: this process, or one worker process per lab.

Each commits its loads trial by trial, so that an interrupt or a kill costs one load; the loop
(`eyelevel.run.study.loop`) chooses the blocks, and counts.

Run labs in parallel: each in its own process, on its own cores.
"""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from types import FrameType
from typing import Protocol

from eyelevel.base.errors import ExpectedError
from eyelevel.base.verbosity import start_inherited_log
from eyelevel.load.quiet_host import HostWait, WaitInterruptedError
from eyelevel.plan.trials import Trial
from eyelevel.run.study.cores import Processors, claim_cores
from eyelevel.run.study.dispatch import Block
from eyelevel.store.packed import PackedTrial

HERE = "here"
WAKE_S = 0.2
"""The longest delay of a signal's handling while loads run."""


@dataclass(frozen=True)
class TrialsFinished:
    """The trials that a slot finished, with their outcomes.

    After a block's last trial the slot is free.
    """

    slot: str
    outcomes: tuple[tuple[Trial, str], ...] = ()
    is_last: bool = False
    packed: tuple[PackedTrial, ...] = ()
    """The trials that are still to be committed."""


@dataclass(frozen=True)
class SlotAdded:
    """A slot was added, and takes blocks from now on."""

    slot: str
    machine: str = ""


@dataclass(frozen=True)
class SlotLost:
    """A slot was lost, with its block."""

    slot: str
    is_blamed: bool = True
    """Whether its block may be the reason."""
    why: str = ""
    """The reason, as far as it is known."""


@dataclass(frozen=True)
class SlotRetired:
    """A slot was retired: it may finish its block, and gets no other."""

    slot: str


Event = TrialsFinished | SlotAdded | SlotLost | SlotRetired


class Slots(Protocol):
    """The slots of a run, each of which loads one block at a time; they notice interrupts."""

    def start(self, slot: str, block: Block) -> None:
        """Start a block on a slot."""

    def restart(self, slot: str) -> None:
        """Restart a slot that hangs; `wait` reports its loss."""

    def wait(self) -> Sequence[Event]:
        """Wait for a short time and return the events, if any.

        A slot is added before it takes blocks.
        """


Interrupted = Callable[[], bool]
OnStart = Callable[[Trial], None]


class InProcessSlot:
    """A slot in this process; it makes one load at a time."""

    def __init__(
        self,
        commit: Callable[[Trial, HostWait], str],
        on_start: OnStart,
        on_wait: Callable[[str], None],
        interrupted: Interrupted,
    ) -> None:
        """`commit` loads and commits a trial, and returns its outcome.

        `on_wait` is called with the reason while a load waits.
        """
        self._commit, self._on_start, self._interrupted = commit, on_start, interrupted
        self._wait = HostWait(on_status=on_wait, should_cancel=interrupted)
        self._left: list[Trial] | None = None

    def start(self, slot: str, block: Block) -> None:
        """Implement `Slots.start`."""
        self._left = list(block.trials)

    def restart(self, slot: str) -> None:
        """Do nothing: a load here ends by its own limits."""

    def wait(self) -> Sequence[Event]:
        """Make the next load of the block."""
        if self._left is None:
            return [SlotAdded(HERE)]
        if self._interrupted():
            return [TrialsFinished(HERE, is_last=True)]
        trial = self._left.pop(0)
        self._on_start(trial)
        try:
            outcome = self._commit(trial, self._wait)
        except WaitInterruptedError:
            return [TrialsFinished(HERE, is_last=True)]
        return [TrialsFinished(HERE, ((trial, outcome),), is_last=not self._left)]


class WorkerPool:
    """Slots in worker processes, one per lab, each on its own cores."""

    def __init__(
        self,
        executors: Sequence[Executor],
        call: tuple[Callable[..., str], Callable[[Trial], tuple[object, ...]]],
        on_start: OnStart,
        interrupted: Interrupted,
    ) -> None:
        """`call`: a function that loads and commits a trial and returns its outcome, and one that
        returns its arguments."""
        self._executors = {f"lane {number}": each for number, each in enumerate(executors, start=1)}
        self._function, self._arguments = call
        self._on_start, self._interrupted = on_start, interrupted
        self._has_joined = False
        self._left: dict[str, list[Trial]] = {}
        self._under_way: dict[Future[str], tuple[str, Trial]] = {}

    def start(self, slot: str, block: Block) -> None:
        """Implement `Slots.start`."""
        self._left[slot] = list(block.trials)
        self._begin_next(slot)

    def restart(self, slot: str) -> None:
        """Do nothing: a load here ends by its own limits."""

    def wait(self) -> Sequence[Event]:
        """Return the loads that have ended. Raises a worker process's error."""
        if not self._has_joined:
            self._has_joined = True
            return [SlotAdded(slot) for slot in self._executors]
        ended, _ = wait(self._under_way, WAKE_S, FIRST_COMPLETED)
        came = []
        for future in ended:
            slot, trial = self._under_way.pop(future)
            outcome = future.result()
            is_last = not self._left[slot] or self._interrupted()
            if not is_last:
                self._begin_next(slot)
            came.append(TrialsFinished(slot, ((trial, outcome),), is_last))
        return came

    def _begin_next(self, slot: str) -> None:
        trial = self._left[slot].pop(0)
        self._on_start(trial)
        future = self._executors[slot].submit(self._function, *self._arguments(trial))
        self._under_way[future] = slot, trial


CORES_A_LAB = 2
"""The cores of a lab: one for the browser, one for the servers and the emulated path."""


class JobsError(ExpectedError):
    """Labs cannot run in parallel here."""


def core_sets(processors: Processors, jobs: int, option: str = "--jobs ") -> list[frozenset[int]]:
    """Return disjoint sets of CORES_A_LAB whole cores, one per job. Raises JobsError if too few.

    `option`: the text before the number of jobs in a message.
    """
    if jobs * CORES_A_LAB > processors.count:
        fit = max(1, processors.count // CORES_A_LAB)
        raise JobsError(
            f"{option}{jobs} needs {jobs * CORES_A_LAB} cores, {CORES_A_LAB} a lab; this process "
            f"may use {processors}; give {option}{fit}: labs that share cores measure each other"
        )
    cores = iter(processors.cores)
    return [frozenset().union(*islice(cores, CORES_A_LAB)) for _ in range(jobs)]


def check_jobs(jobs: int, option: str = "--jobs ") -> None:
    """Check `--jobs` before anything is written. Raises as `claim_core_sets`."""
    with claim_core_sets(jobs, option):
        pass


@contextmanager
def claim_core_sets(jobs: int, option: str = "--jobs ") -> Iterator[list[frozenset[int]]]:
    """Claim a set of cores per job until the end of the block; none for one job, which uses all.

    Raises JobsError if the machine has too few, CoresTakenError if other commands have them.
    """
    if jobs == 1:
        yield []
        return
    usable = Processors.usable()
    core_sets(usable, jobs, option)
    with claim_cores(usable, jobs * CORES_A_LAB) as free:
        yield core_sets(free, jobs, option)


@contextmanager
def worker_processes(sets: Sequence[frozenset[int]]) -> Iterator[list[ProcessPoolExecutor]]:
    """Start one process per set of cores, restricted to it; after an error all end at once."""
    context = get_context("spawn")  # threads do not survive a fork
    pools = [ProcessPoolExecutor(1, context, _begin, (cores,)) for cores in sets]
    pids: list[int] = []
    try:
        pids = [pool.submit(os.getpid).result() for pool in pools]
        yield pools
    except BaseException:
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        raise
    finally:
        for pool in pools:
            pool.shutdown(wait=True, cancel_futures=True)


def _begin(cores: frozenset[int]) -> None:
    os.sched_setaffinity(0, cores)
    start_inherited_log()
    # The first Ctrl-C of a terminal reaches every process; the main one handles it.
    before = signal.getsignal(signal.SIGINT)

    def once(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, once)
