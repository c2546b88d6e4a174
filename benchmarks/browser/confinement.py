"""Measure what the confinement, and the browser's own sandbox in it, cost a load and do to its
numbers.

    python -m benchmarks.browser.confinement --blocks 40 --seed 1

Every block loads `dashboard` over `lte` once with and once without (`--unsafe-browser`), over each
of two stacks, in random order. Printed by stack: the mean of the logarithms' differences of page
load time, as a percentage with its 90 % interval (asked: within 1 %, the interval within 2 %), and
what a load took beyond its page load time, median of the differences (asked: at most 150 ms).
Loads that were not `ok` take their block along. Nothing is asserted.
"""

from __future__ import annotations

import math
import os
import random
import statistics
import sys

from benchmarks.browser.figure import load
from benchmarks.shared.command import parser_of
from eyelevel.analysis.stats.estimate import t_estimate
from eyelevel.lab.confinement import UNSAFE_VARIABLE

SITE, NETWORK, STACKS = "dashboard", "lte", ("tcp+", "quic")
CONFIDENCE = 0.9


def main() -> None:
    """Load, and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--blocks", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    order = random.Random(arguments.seed)
    load_ms: dict[tuple[str, bool, int], float] = {}
    beyond_ms: dict[tuple[str, bool, int], float] = {}
    for block in range(arguments.blocks):
        trials = [(stack, confined) for stack in STACKS for confined in (True, False)]
        order.shuffle(trials)
        for stack, confined in trials:
            os.environ[UNSAFE_VARIABLE] = "0" if confined else "1"
            record = load(SITE, NETWORK, stack, seed=block + 1).record
            if record["outcome"] != "ok":
                print(f"block {block + 1}, {stack}: {record['outcome']}", file=sys.stderr)
                continue
            place = stack, confined, block
            load_ms[place] = record["navigation"]["page_load_time_ms"]
            beyond_ms[place] = record["host"]["wall_ms"] - load_ms[place]
        print(f"block {block + 1} of {arguments.blocks}", file=sys.stderr)
    for stack in STACKS:
        _print(stack, load_ms, beyond_ms, arguments.blocks)


def _print(
    stack: str,
    load_ms: dict[tuple[str, bool, int], float],
    beyond_ms: dict[tuple[str, bool, int], float],
    blocks: int,
) -> None:
    whole = [
        block
        for block in range(blocks)
        if (stack, True, block) in load_ms and (stack, False, block) in load_ms
    ]
    logs = [math.log(load_ms[stack, True, block] / load_ms[stack, False, block]) for block in whole]
    more_ms = [beyond_ms[stack, True, block] - beyond_ms[stack, False, block] for block in whole]
    error = statistics.stdev(logs) / math.sqrt(len(logs))
    mean = statistics.fmean(logs)
    estimate = t_estimate(mean, error, len(logs) - 1, len(logs), CONFIDENCE)
    value, low, high = (
        100 * math.expm1(each) if each is not None else math.nan
        for each in (estimate.value, estimate.low, estimate.high)
    )
    interval = f"({low:+.2f} % to {high:+.2f} %, 90 %)"
    beyond = f"beyond it {statistics.median(more_ms):+.0f} ms a load"
    print(f"{stack:5} {len(whole)} blocks: page load time {value:+.2f} % {interval}, {beyond}")


if __name__ == "__main__":
    main()
