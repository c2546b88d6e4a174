"""Labs side by side: each in a process of its own, on cores of its own."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import groupby, islice
from multiprocessing import get_context
from types import FrameType

from eyelevel.errors import ExpectedError
from eyelevel.plan.trials import Trial
from eyelevel.run.study.claimed_cores import claimed_cores
from eyelevel.run.study.cores import Processors

CORES_A_LAB = 2
"""One for the browser, one for the servers and the emulated path."""

WAKE_S = 0.2
"""How soon a signal is handled while loads run."""


class JobsError(ExpectedError):
    """Labs cannot run side by side here."""


def core_sets(processors: Processors, jobs: int) -> list[frozenset[int]]:
    """Disjoint sets of CORES_A_LAB whole cores, a job each; JobsError if there are too few."""
    if jobs * CORES_A_LAB > processors.count:
        fit = max(1, processors.count // CORES_A_LAB)
        raise JobsError(
            f"--jobs {jobs} needs {jobs * CORES_A_LAB} cores, {CORES_A_LAB} a lab; this process "
            f"may use {processors}; give --jobs {fit}: labs that share cores measure each other"
        )
    cores = iter(processors.cores)
    return [frozenset().union(*islice(cores, CORES_A_LAB)) for _ in range(jobs)]


def check_jobs(jobs: int) -> None:
    """Raises as `claimed_sets`, before anything is written."""
    with claimed_sets(jobs):
        pass


@contextmanager
def claimed_sets(jobs: int) -> Iterator[list[frozenset[int]]]:
    """Cores for `jobs`, which no other command takes in the block; none for one job, which roams.

    Raises JobsError if the machine has too few, CoresTakenError if others have them.
    """
    if jobs == 1:
        yield []
        return
    usable = Processors.usable()
    core_sets(usable, jobs)
    with claimed_cores(usable, jobs * CORES_A_LAB) as free:
        yield core_sets(free, jobs)


@contextmanager
def lanes(sets: Sequence[frozenset[int]]) -> Iterator[list[ProcessPoolExecutor]]:
    """A process for each set of cores, held to it; with an error they end at once."""
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


def run_blocks(
    trials: Sequence[Trial],
    pools: Sequence[ProcessPoolExecutor],
    call: tuple[Callable[..., str], Callable[[Trial], tuple[object, ...]]],
    on_start: Callable[[Trial], None],
    on_end: Callable[[Trial, str], None],
    interrupted: Callable[[], bool],
) -> None:
    """Run `trials` block by block: the stacks of one block on one set of cores, in their order.

    `call` is a function and what gives its arguments for a trial. `on_start` and `on_end` are
    called one at a time. An error in one lane ends all after their current loads.
    """
    blocks = iter([list(group) for _, group in groupby(trials, key=lambda trial: trial.block)])
    lock = threading.Lock()
    errors: list[BaseException] = []
    function, arguments = call

    def work(pool: ProcessPoolExecutor) -> None:
        try:
            while True:
                with lock:
                    block = next(blocks, None)
                for trial in block or ():
                    if interrupted() or errors:
                        return
                    with lock:
                        on_start(trial)
                    outcome = pool.submit(function, *arguments(trial)).result()
                    with lock:
                        on_end(trial, outcome)
                if block is None:
                    return
        except BaseException as error:  # raised again below, in the caller's thread
            errors.append(error)

    threads = [threading.Thread(target=work, args=(pool,), daemon=True) for pool in pools]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(WAKE_S)
    if errors:
        raise errors[0]


def _begin(cores: frozenset[int]) -> None:
    os.sched_setaffinity(0, cores)
    # The first Ctrl-C of a terminal reaches every process; the command's own decides.
    before = signal.getsignal(signal.SIGINT)

    def once(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, once)
