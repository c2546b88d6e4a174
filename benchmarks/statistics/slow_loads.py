"""Simulate whether slow loads differ: `python -m benchmarks.statistics.slow_loads [--quick]`.

Synthetic studies as those of `benchmarks.statistics.intervals`, with a spread of 0.1 (0.2 where it
says so). Printed for every cell is how often a test of the two stacks' shares of slow loads has
p <= 0.05, by three definitions: slow above 1.5 times the median of both stacks' loads of the site,
by McNemar's exact test over blocks; above 1.5 times the median of the stack's own, by the same; and
the latter by the exact test over repetitions, which the report has. All but the last two scenarios
are of stacks whose tails are alike. Then how many loads a tail needs to be seen, and to be told
from none. About a minute; nothing is asserted.
"""

import sys
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from benchmarks.shared.markdown import print_head
from benchmarks.statistics.intervals import DISTURBANCE, REPETITIONS, SEED, SITES
from eyelevel.analysis.stats.censoring import SLOW_TIMES, loads_to_see, slow_loads

Floats = NDArray[np.float64]

STUDIES, STUDIES_QUICK = 1000, 50
DISCORDANT_MIN = 6  # all on one side: the fewest of which an exact test has p <= 0.05
TOLD = 0.95
TAILS = (0.10, 0.03, 0.01)


@dataclass(frozen=True)
class Scenario:
    """`together`: a slow repetition is slow on all sites, as in a busy minute."""

    name: str
    share: float = 0.0
    times: float = 1.0
    both: bool = True
    together: bool = False
    spread: float = 0.1
    gain: float = 0.0


SCENARIOS = (
    Scenario("no tail, spread 0.2", spread=0.2),
    Scenario("10 % x 2 in both", 0.10, 2),
    Scenario("3 % x 4 in both", 0.03, 4),
    Scenario("10 % of repetitions x 2 in both", 0.10, 2, together=True),
    Scenario("30 % faster, spread 0.2", spread=0.2, gain=-0.3),
    Scenario("10 % x 2 in one", 0.10, 2, both=False),
    Scenario("3 % x 4 in one", 0.03, 4, both=False),
)


def found_share(
    scenario: Scenario, sites: int, repetitions: int, studies: int, draw: np.random.Generator
) -> Floats:
    """Return the share of studies in which each of the three tests finds a difference."""
    shape = (sites, repetitions)
    return np.mean([_found(*_loads(scenario, shape, draw)) for _ in range(studies)], axis=0)


def _loads(
    scenario: Scenario, shape: tuple[int, int], draw: np.random.Generator
) -> tuple[Floats, Floats]:
    """Times of the stack and its reference, sites x repetitions."""
    both = []
    for slow, gain in ((scenario.both, scenario.gain), (True, 0.0)):
        shared = DISTURBANCE * draw.standard_normal((1, shape[1]))
        times = (1 + gain) * np.exp(scenario.spread * (draw.standard_normal(shape) + shared))
        if slow and scenario.share:
            where = draw.random((1, shape[1]) if scenario.together else shape) < scenario.share
            times = times * np.where(where, scenario.times, 1.0)
        both.append(times)
    return both[0], both[1]


def _found(x: Floats, r: Floats) -> tuple[bool, bool, bool]:
    pooled = np.median(np.concatenate((x, r), axis=1), axis=1, keepdims=True)
    own, other = (np.median(each, axis=1, keepdims=True) for each in (x, r))
    p = slow_loads(x, r).p
    return (
        _mcnemar(x > SLOW_TIMES * pooled, r > SLOW_TIMES * pooled),
        _mcnemar(x > SLOW_TIMES * own, r > SLOW_TIMES * other),
        p is not None and p <= 0.05,
    )


def _mcnemar(x: NDArray[np.bool_], r: NDArray[np.bool_]) -> bool:
    more, fewer = int((x & ~r).sum()), int((r & ~x).sum())
    return bool(2 * special.bdtr(min(more, fewer), more + fewer, 0.5) <= 0.05)


def loads_to_tell(share: float) -> int:
    """Return how many loads of each stack tell a tail of one stack from none, with chance TOLD."""
    loads = np.arange(DISCORDANT_MIN, 10_000)
    return int(loads[stats.binom.sf(DISCORDANT_MIN - 1, loads, share) >= TOLD][0])


def main(quick: bool) -> None:
    """Both tables, in Markdown."""
    heads = ("scenario", "sites", "repetitions", "both's median", "own median", "over repetitions")
    print_head(heads)
    draw = np.random.Generator(np.random.PCG64(SEED))
    studies = STUDIES_QUICK if quick else STUDIES
    for scenario, sites, repetitions in product(SCENARIOS, SITES, REPETITIONS):
        shares = found_share(scenario, sites, repetitions, studies, draw)
        said = " | ".join(f"{share:.1%}" for share in shares)
        print(f"| {scenario.name} | {sites} | {repetitions} | {said} |", flush=True)
    print("\n| tail of one stack | loads that hold one of it | loads that tell it from none |")
    print("| --- | ---: | ---: |")
    for share in TAILS:
        print(f"| {share:.0%} | {loads_to_see(share)} | {loads_to_tell(share)} |")


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
