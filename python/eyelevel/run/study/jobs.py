"""Run labs in parallel: each in its own process, on its own cores."""

import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context
from types import FrameType

from eyelevel.base.errors import ExpectedError
from eyelevel.base.verbosity import start_inherited_log
from eyelevel.run.study.core_claims import claim_cores
from eyelevel.run.study.cores import Processors

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
