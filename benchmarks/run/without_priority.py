"""Measure how many loads count without real-time priority, and how long they take.

`LOADS=12 SITE=agency python -m benchmarks.run.without_priority` as root, on a machine with two
cores or more and nothing else to do. Three ways take turns, in an order that is drawn: with the
priority; without it, so that each lab keeps one core for itself; without it and with all cores and
usual turns for everybody. Each way loads SITE over `dsl`, by HTTP/2 and by HTTP/3. Those without it
are root all the same: an ordinary user's labs are in a user namespace besides. Page load times are
of loads that are `ok`. The last lines say what the kept core costs pages, and whether it moves the
comparison.
"""

import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.shared.command import machine, parser_of
from benchmarks.shared.ratio import ratio_of_medians

LOADS = int(os.environ.get("LOADS", "12"))
SITE = os.environ.get("SITE", "agency")
STACKS = ("tcp+", "quic")
WITHOUT = ("setpriv", "--inh-caps=-sys_nice", "--bounding-set=-sys_nice")
LOAD = """
import json, sys
from functools import partial
from eyelevel.lab.client import LabConfig
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.browser import Browser
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.trials import expand
from eyelevel.load import trial
from eyelevel.sites.recorded import open_site

name, stack, seed, asks = sys.argv[1], sys.argv[2], int(sys.argv[3]), bool(int(sys.argv[4]))
trial.LabConfig = partial(LabConfig, realtime=asks)
site = open_site(name)
network = (NETWORKS_BY_NAME["dsl"],)
plan = one_cell(site.name, network, STACKS_BY_NAME[stack], 1, seed, Browser())
(one,) = expand(plan, [site.of_plan()])
record = trial.run_trial(one, str(site.path.resolve())).record
path, navigation = record["path"] or {}, record["navigation"] or {}
late = [path[way]["lateness_us_p99"] or 0.0 for way in ("down", "up") if way in path]
plt = navigation.get("page_load_time_ms")
print(json.dumps([record["outcome"], plt, max(late, default=None)]))
"""


@dataclass
class Way:
    """A way of making loads, and the outcomes of all of them."""

    name: str
    prefix: tuple[str, ...]
    asks: bool
    ok: dict[str, list[float]] = field(default_factory=lambda: {stack: [] for stack in STACKS})
    lateness_us: list[float] = field(default_factory=list)
    loads: int = 0

    def load(self, stack: str, seed: int) -> None:
        """One load, in a process of its own."""
        words = [SITE, stack, str(seed), str(int(self.asks))]
        command = [*self.prefix, sys.executable, "-c", LOAD, *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=300, check=True)
        outcome, page_load_time_ms, lateness_us = json.loads(done.stdout)
        print(f"{self.name}, {stack}, {seed}: {outcome}, {page_load_time_ms} ms", file=sys.stderr)
        self.loads += 1
        if lateness_us is not None:
            self.lateness_us.append(lateness_us)
        if outcome == "ok":
            self.ok[stack].append(page_load_time_ms)

    def said(self) -> str:
        """One line."""
        counted = sum(map(len, self.ok.values()))
        times = ", ".join(
            f"{stack} {statistics.median(found):.0f} ms" if found else f"{stack} -"
            for stack, found in self.ok.items()
        )
        late = statistics.median(self.lateness_us or [float("nan")]) / 1e3
        return (
            f"{self.name}: {counted} of {self.loads} loads ok; p99 of a release "
            f"{late:.2f} ms late in the median load; median page load time {times}"
        )


def _main() -> None:
    ways = [
        Way("with the priority", (), True),
        Way("without, a core kept", WITHOUT, True),
        Way("without, all cores everybody's", WITHOUT, False),
    ]
    generator = random.Random(1)  # no secret
    for number in range(LOADS):
        loads = [(way, stack) for way in ways for stack in STACKS]
        for way, stack in generator.sample(loads, len(loads)):
            way.load(stack, number + 1)
    for way in ways:
        print(way.said())
    whole, kept = ways[:2]
    for stack in STACKS:
        _print_ratio(f"{stack}, a core kept / with", whole.ok[stack], kept.ok[stack])
    for way in (whole, kept):
        _print_ratio(f"{way.name}, {STACKS[1]} / {STACKS[0]}", *(way.ok[each] for each in STACKS))


def _print_ratio(what: str, before: Sequence[float], after: Sequence[float]) -> None:
    if before and after:
        found = ratio_of_medians(before, after, random.Random(1))
        print("{}: {:.3f} ({:.3f} to {:.3f})".format(what, *found))


if __name__ == "__main__":
    parser_of(__doc__).parse_args()
    print(machine())
    _main()
