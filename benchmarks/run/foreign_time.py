"""Measure by how much other programs' CPU time slows a load: what the bound of a busy machine
costs.

`LOADS=10 python -m benchmarks.run.foreign_time`, on a machine with nothing else to do. Beside loads
of SITE over NETWORK a process on each processor computes for a share of each 20 ms, with the same
priority as the browser; the shares take turns load by load, and the stacks within them. Printed by
share: the processors' share that these processes had, what loads took for foreign, and by how much
the Speed Index of each stack and the gain of the second differ from those beside nothing, with
95 % intervals over the rounds; then the slope of either by least squares.

On a machine that others use, a cgroup of its own with `cpu.shares` of 262144 puts the benchmark
before them. What loads take for foreign has these others in it then, too.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from scipy.stats import linregress, t

from benchmarks.shared.command import machine, parser_of
from eyelevel.analysis.metrics.catalogue import metrics_of
from eyelevel.analysis.stats.paired_gains import mean_over_repetitions
from eyelevel.load.host import tree_cpu_s
from eyelevel.load.trial import run_trial
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.trials import expand
from eyelevel.sites.recorded import open_site
from eyelevel.store.outcomes import COUNTED

LOADS = int(os.environ.get("LOADS", "10"))
SITE, NETWORK, STACKS = "agency", "dsl", ("tcp+", "quic")
SHARES = (0.0, 0.1, 0.25, 0.5, 0.9)
HOG = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
share, parent = float(sys.argv[2]), int(sys.argv[3])
while os.getppid() == parent:
    began = time.monotonic()
    while time.monotonic() < began + 0.02 * share: pass
    time.sleep(max(0.0, began + 0.02 - time.monotonic()))
"""


@contextmanager
def _beside(share: float) -> Iterator[list[int]]:
    """A process on each processor that computes for this share of the time; their ids."""
    hogs = [
        subprocess.Popen([sys.executable, "-c", HOG, str(core), str(share), str(os.getpid())])
        for core in (sorted(os.sched_getaffinity(0)) if share else ())
    ]
    try:
        yield [hog.pid for hog in hogs]
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def _load(stack: str, share: float, seed: int) -> tuple[float, float, float]:
    """Return the Speed Index in ms (not-a-number if the load does not count), the share of the
    processors that the others had, and what the load took for foreign."""
    site = open_site(SITE)
    plan = one_cell(site.name, [NETWORKS_BY_NAME[NETWORK]], STACKS_BY_NAME[stack], 1, seed)
    (trial,) = expand(plan, [site.of_plan()])
    with _beside(share) as pids:
        began_s, before_s = time.monotonic(), sum(map(tree_cpu_s, pids))
        result = run_trial(trial, str(site.path.resolve()))
        used_s = sum(map(tree_cpu_s, pids)) - before_s
        capacity_s = (time.monotonic() - began_s) * len(os.sched_getaffinity(0))
    # In this process's tree the others count as ours.
    foreign = result.record["host"]["cpu_foreign_share"] + used_s / capacity_s
    counts = result.record["outcome"] in COUNTED
    value = metrics_of(result.record, result.frames)["speed_index_ms"] if counts else None
    return value or float("nan"), used_s / capacity_s, foreign


def _change(values: Sequence[float]) -> str:
    """A mean of logs as a change with its interval."""
    known = [value for value in values if np.isfinite(value)]
    found = mean_over_repetitions([known])
    numbers = [np.expm1(each) if each is not None else float("nan") for each in (
        found.value, found.low, found.high)]  # fmt: skip
    return "{:+.1%} ({:+.1%} to {:+.1%})".format(*numbers)


def main() -> None:
    """A row a share."""
    seen = np.full((len(SHARES), len(STACKS), LOADS, 3), np.nan)
    order = np.random.Generator(np.random.PCG64(1))
    for number in range(LOADS):
        for place in order.permutation(len(SHARES)):
            for stack in order.permutation(len(STACKS)):
                seen[place, stack, number] = _load(STACKS[stack], SHARES[place], number + 1)
                print(SHARES[place], STACKS[stack], seen[place, stack, number], file=sys.stderr)
    logs = np.log(seen[..., 0])
    print(f"\n| others wanted | had | foreign | {STACKS[0]} | {STACKS[1]} | gain of {STACKS[1]} |")
    for place, share in enumerate(SHARES):
        changes = logs[place] - logs[0]
        had, foreign = np.nanmedian(seen[place, ..., 1:], axis=(0, 1))
        words = [_change(change) for change in (*changes, changes[1] - changes[0])]
        print(f"| {share:.0%} | {had:.0%} | {foreign:.0%} | {' | '.join(words)} |")
    for column, stack in enumerate(STACKS):
        had, value = seen[:, column, :, 1].ravel(), logs[:, column].ravel()
        found = linregress(had[there := np.isfinite(value)], value[there])
        reach = found.stderr * t.ppf(0.975, there.sum() - 2)
        print(f"{stack}: {found.slope / 10:+.1%} ± {reach / 10:.1%} a tenth that others had")


if __name__ == "__main__":
    parser_of(__doc__).parse_args()
    print(machine())
    main()
