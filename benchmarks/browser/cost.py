"""Measure what a load costs beyond the page's own: wall time, CPU time, bytes kept.

All loads are kept in one directory, as a study keeps them: a site's last picture, which its loads
share, is among the bytes of the first."""

import os
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.browser.figure import Figure, load, of_values
from eyelevel.analysis.metrics.catalogue import metrics_of
from eyelevel.load.trial import TrialResult
from eyelevel.store.commit import write_trial
from eyelevel.store.directory import StoredTrial, read_trial

LOADS = int(os.environ.get("LOADS", 7))
"""The environment variable: fewer, for a look."""
SITES = ("agency", "creative", "dashboard")
NETWORK, STACK = "lte", "tcp+"
METRICS_TIMES = 5
"""A load's metrics are computed so often for one figure: once takes a few ticks of the clock."""


def cost() -> Iterator[Figure]:
    """Yield every site in turn, so that a busy moment meets all alike."""
    wall_s: list[float] = []
    cpu_s: list[float] = []
    video: dict[str, list[float]] = {site: [] for site in SITES}
    kept: dict[str, list[float]] = {site: [] for site in SITES}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, LOADS + 1):
            for site in SITES:
                before_s = _own_cpu_s()
                result = load(site, NETWORK, STACK, seed)
                record, browser = result.record, result.record["browser"]
                load_s = record["navigation"]["page_load_time_ms"] / 1e3
                wall_s.append(record["host"]["wall_ms"] / 1e3 - load_s)
                # The browser's processes are counted apart: most end unwaited for. What its first
                # process used is counted twice.
                cpu_s.append(_own_cpu_s() - before_s + browser["start_cpu_s"])
                kept[site].append(_keep(Path(folder), result) / 1e3)
                stored = read_trial(Path(folder), record["trial"]["hash"])
                video[site].append(_metrics_cpu_s(stored))
    yield of_values(
        "wall beyond the load, quiet second included, s",
        "<= 3.0",
        wall_s,
        statistics.median(wall_s),
        "22, tuned 7.7",
    )
    yield of_values(
        "CPU beyond the browser's own for the page, s",
        "<= 2.5",
        cpu_s,
        statistics.median(cpu_s),
        "13.1, tuned 5.4",
    )
    for site in SITES:
        middle = statistics.median(video[site])
        what = f"visual metrics, CPU s a video second, {site}"
        yield of_values(what, "<= 0.02", video[site], middle, "0.17 to 0.2")
    for site in SITES:
        first, *further = kept[site]
        yield Figure(f"kept of a site's first load, kB, {site}", "", first, browsertime="295")
        if further:
            what, middle = f"kept of each further load, kB, {site}", statistics.median(further)
            yield of_values(what, "<= 150", further, middle)
    everything = [each for values in kept.values() for each in values]
    what = f"kept of a load, kB, mean of {LOADS} of each"
    yield of_values(what, "<= 150", everything, statistics.mean(everything))


def _own_cpu_s() -> float:
    """Return the CPU time of this process and of ended children that it waited for, including
    labs."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _metrics_cpu_s(stored: StoredTrial) -> float:
    """Return the CPU time of the metrics per second from the navigation to the load's end, the
    length of a video."""
    phases = stored.record["browser"]["wall_ms"]
    video_s = (phases["load"] + phases["quiet"]) / 1e3
    frames = stored.frames()
    metrics_of(stored.record, frames)  # the first time in a process also loads libraries
    began_s = time.process_time()
    for _ in range(METRICS_TIMES):
        metrics_of(stored.record, frames)
    return (time.process_time() - began_s) / METRICS_TIMES / video_s


def _keep(directory: Path, result: TrialResult) -> int:
    """Write a load; by how many bytes the directory has grown."""
    before = _bytes_in(directory)
    write_trial(directory, result.record, result.frames)
    return _bytes_in(directory) - before


def _bytes_in(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
