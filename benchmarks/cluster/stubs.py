"""Bounds of the engine and the client, with loads that are made up."""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

sys.path.append(str(Path(__file__).parents[2] / "tests" / "helpers"))

from synthetic_cluster import SyntheticCluster, until

from benchmarks.shared.command import Figure

PLAN = """sites = ["startup"]
networks = {networks}
stacks = ["tcp", "quic", "tcp+", "tcp+bbr", "quic+bbr"]
reference = "tcp"
blocks = {blocks}
"""
FIRST = "startup/dsl/1"
ROUNDS = 3
IDLE_S = 30.0
BLOCKS_OF_MEMORY = int(os.environ.get("BLOCKS", 30_000))
"""The environment variable: fewer, for a look."""
PICTURES_A_LOAD = 40
"""A load of a second and a half, captured at most every 40 ms."""
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@contextmanager
def cluster_of(
    blocks: int, script: dict[str, list[str]] | None = None, networks: Sequence[str] = ("dsl",)
) -> Iterator[SyntheticCluster]:
    """A run of so many blocks of five on each network."""
    plan = PLAN.format(networks=json.dumps(networks), blocks=blocks)
    with tempfile.TemporaryDirectory(prefix="eyelevel-bench-") as folder:
        yield SyntheticCluster(Path(folder), script or {}, plan)


def began_s(cluster: SyntheticCluster, block: str, attempt: int = 0) -> float:
    """Return when a block's attempt began, in wall time."""
    name = f"{block.replace('/', '_')}.{attempt}"
    return (cluster.site / "attempts" / name).stat().st_mtime


def engine() -> Iterator[Figure]:
    """Measure the time per trial from the first block's start to the end of the run, and this
    process's share."""
    wall = Figure("a made-up trial with its commit, wall, ms", "<= 10")
    processor = Figure("of it processor of client and scheduler, ms", "")
    for _ in range(ROUNDS):
        with cluster_of(60) as cluster:
            before_s = time.process_time()
            done = cluster.to_its_end("one").done
            last_s = max(each.stat().st_mtime for each in (cluster.run / "trials").iterdir())
            wall.values.append((last_s - began_s(cluster, FIRST)) * 1e3 / done)
            processor.values.append((time.process_time() - before_s) * 1e3 / done)
    yield wall
    yield processor


def scaling() -> Iterator[Figure]:
    """Synthetic loads that wait: they need no processor, so two cores are enough."""
    figure = Figure("two workers against one, loads that wait", ">= 1.9")
    for _ in range(ROUNDS):
        took_s = []
        for machines in (["one"], ["one", "two"]):
            with cluster_of(24) as cluster:
                cluster.tell(wait_s=0.3)
                cluster.to_its_end(*machines)
                begins = sorted(each.stat().st_mtime for each in cluster.attempt_files())
                ends = sorted(each.stat().st_mtime for each in (cluster.run / "trials").iterdir())
                # From when all are there: starting is a figure of its own.
                start = len(machines) * 4
                took_s.append((ends[-1] - begins[start]) / (24 - start))
        figure.values.append(took_s[0] / took_s[1])
    yield figure


def lost() -> Iterator[Figure]:
    """Return how long after a worker was killed its block begins again on the same slot."""
    figure = Figure("a killed worker's slot is back after, s", "<= 30")
    blocks = Figure("blocks loaded without use", "<= 1")
    for _ in range(ROUNDS):
        with cluster_of(3, {FIRST: ["killed at its end"]}) as cluster:
            cluster.to_its_end("one")
            figure.values.append(began_s(cluster, FIRST, 1) - began_s(cluster, FIRST))
            blocks.values.append(len(cluster.attempt_files()) - 3)
    yield figure
    yield blocks


def idle() -> Iterator[Figure]:
    """Measure what Dask takes of a core while a slot's load waits, in the slot's processes and
    here."""
    slot = Figure("Dask beside a load, a slot, % of a core", "<= 0.5")
    here = Figure("client and scheduler meanwhile, % of a core", "")
    with cluster_of(1, {FIRST: ["waits"]}) as cluster:

        def watch() -> None:
            with cluster.gate(FIRST).open("wb"):
                worker = cluster.process(FIRST)
                pids = [worker, cluster.machine(FIRST).pid]
                for _ in range(ROUNDS):
                    before = sum(map(processor_s, pids)), time.process_time()
                    started_s = time.monotonic()
                    until(lambda start_s=started_s: time.monotonic() > start_s + IDLE_S, 1.0)
                    after = sum(map(processor_s, pids)), time.process_time()
                    slot.values.append((after[0] - before[0]) / IDLE_S * 100)
                    here.values.append((after[1] - before[1]) / IDLE_S * 100)

        watching = Thread(target=watch)
        watching.start()
        cluster.to_its_end("one")
        watching.join()
    yield slot
    yield here


def memory() -> Iterator[Figure]:
    """Measure the memory of this process, with client and scheduler."""
    # A plan takes at most 10,000 blocks for a site and network.
    networks = ("dsl", "lte", "da2gc")
    with cluster_of(BLOCKS_OF_MEMORY // len(networks), networks=networks) as cluster:
        seen = watched_memory(cluster, os.getpid)
    yield from thirds(f"client over {BLOCKS_OF_MEMORY} blocks", seen)


def worker_memory() -> Iterator[Figure]:
    """Measure the memory of a slot's process over 500 loads whose pictures are packed like real
    ones."""
    with cluster_of(100) as cluster:
        cluster.tell(pictures=PICTURES_A_LOAD)
        seen = watched_memory(cluster, lambda: cluster.process(FIRST))
    yield from thirds("worker over 500 loads", seen)


def watched_memory(cluster: SyntheticCluster, pid: Callable[[], int]) -> list[float]:
    """Return a process's memory at intervals from the first block's start to the last one's end."""
    ended, seen = Event(), []

    def watch() -> None:
        while not ended.wait(0.2):
            # One file is looked at: a list of all attempts, of which there are 30,000 in the end,
            # would be measured, too.
            with suppress(FileNotFoundError):  # it has not begun yet, or the slot has ended
                began_s(cluster, FIRST)
                seen.append(resident_mb(pid()))

    watching = Thread(target=watch)
    watching.start()
    try:
        cluster.to_its_end("one")
    finally:
        ended.set()
        watching.join()
    return seen


def thirds(what: str, seen: Sequence[float]) -> Iterator[Figure]:
    """Yield medians of the last third over the first, and both."""
    third = len(seen) // 3
    first, last = statistics.median(seen[:third]), statistics.median(seen[-third:])
    yield Figure(f"{what}, last third over first", "<= 1.05", [last / first])
    yield Figure(f"{what}, MB of first and last third", "", [first, last])


def processor_s(pid: int) -> float:
    """Return the CPU time that a process has taken so far, in s."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def resident_mb(pid: int) -> float:
    """Return a process's resident memory, in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
