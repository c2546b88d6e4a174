"""Measure how many loads an intermittently busy machine loses, with and without waiting for it.

`LOADS=12 python -m benchmarks.run.host_wait` as root, on a machine with nothing else to do. Bursts
stand in for a machine's other guests: for BURST_S of every PERIOD_S of the common clock a process
on each processor, above the emulated path's priority, takes half of the time. Loads of `plain` over
`dsl` wait in turn, and do not. Also says what the machine did between two loads when it was quiet.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.shared.command import machine, parser_of
from eyelevel.load import quiet_host as waiting
from eyelevel.load.host import HostSample
from eyelevel.load.quiet_host import HostWait
from eyelevel.load.trial import run_trial
from eyelevel.plan.browser import Browser
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.trials import expand
from eyelevel.sites.recorded import open_site

LOADS = int(os.environ.get("LOADS", "12"))
BURST_S, PERIOD_S, PRIORITY = 5.0, 20.0, 95
HOG = f"""
import os, sys, time
os.sched_setaffinity(0, {{int(sys.argv[1])}})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param({PRIORITY}))
print("taken", flush=True)
parent = int(sys.argv[2])
while os.getppid() == parent:
    now = time.monotonic()
    if now % {PERIOD_S} >= {BURST_S}:
        time.sleep({PERIOD_S} - now % {PERIOD_S})
    elif now % 0.08 >= 0.04:
        time.sleep(0.08 - now % 0.08)
"""


@contextmanager
def _bursts() -> Iterator[None]:
    hogs = [
        subprocess.Popen(
            [sys.executable, "-c", HOG, str(core), str(os.getpid())], stdout=subprocess.PIPE
        )
        for core in sorted(os.sched_getaffinity(0))
    ]
    try:
        for hog in hogs:
            assert hog.stdout is not None
            if hog.stdout.readline() != b"taken\n":
                raise SystemExit("real-time priority is refused; as root")
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def _load(seed: int, wait: HostWait | None) -> dict:
    site = open_site("plain")
    cell = (NETWORKS_BY_NAME["dsl"],)
    plan = one_cell(site.name, list(cell), STACKS_BY_NAME["tcp+"], 1, seed, Browser())
    (trial,) = expand(plan, [site.of_plan()])
    return run_trial(trial, str(site.path.resolve()), host_wait=wait).record


def _between_loads() -> None:
    """The part of a load's own end that the next one's wait sees."""
    for seed in range(4):
        _load(seed, None)
        since = waiting._last
        assert since is not None
        shares = since.until(HostSample.take(time.monotonic()))
        length_s = time.monotonic() - since.at_s
        told = f"steal {shares['cpu_steal_share']:.3f}, pressure {shares['cpu_pressure_share']:.3f}"
        print(f"between two loads of a quiet machine: {length_s:.2f} s, {told}")


def _bursty() -> None:
    ways = {"without waiting": None, "waiting": HostWait()}
    seen: dict[str, list[dict]] = {name: [] for name in ways}
    with _bursts():
        for number in range(LOADS):
            for name, wait in ways.items():
                seen[name].append(_load(100 + number, wait))
    for name, records in seen.items():
        lost = sum(record["outcome"] == "starved" for record in records)
        waited_s = [record["host"]["waited_for_host_ms"] / 1e3 for record in records]
        some = [each for each in waited_s if each]
        print(
            f"{name}: {lost} of {len(records)} loads starved; {len(some)} waited, "
            f"{max(waited_s):.1f} s at most, {sum(waited_s) / len(waited_s):.1f} s in the mean"
        )


if __name__ == "__main__":
    parser_of(__doc__).parse_args()
    print(machine())
    _between_loads()
    _bursty()
