"""What exclusions do to a gain: `python -m benchmarks.statistics.exclusions [--quick]`.

Made-up studies as those of `benchmarks.statistics.intervals`. Some loads are slowed; one that was
slowed fails the instrument's rules with chance 0.8, and one that was not with chance 0.02; a
failure takes both loads of its block away. What slows them is the machine, which is no part of the
question, or the network, which is. Printed for every cell: the share of blocks that are excluded,
the true gain, and without the excluded blocks (what a report claims by) and with them the mean gain
and how often its 95 % interval misses. Seconds; nothing is asserted.
"""

import sys
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import stats

from benchmarks.shared.markdown import print_head
from benchmarks.statistics.intervals import DISTURBANCE, SEED, SPREAD, over_repetitions
from eyelevel.stats.estimate import Floats

FAILS_SLOWED, FAILS = 0.8, 0.02
SIZES = ((1, 31), (10, 10), (10, 31))
STUDIES, STUDIES_QUICK, STUDIES_AT_ONCE = 4000, 400, 200


@dataclass(frozen=True)
class Scenario:
    """`share` of the loads of the stack, or of both, take `times` as long.

    `part_of_the_question`: whether what slows them is what the study asks about, as a network's
    losses are and a busy machine is not.
    """

    name: str
    share: float = 0.0
    times: float = 1.0
    both: bool = False
    part_of_the_question: bool = False

    @property
    def truth(self) -> float:
        """The true log ratio."""
        asked = self.part_of_the_question and not self.both
        return self.share * float(np.log(self.times)) if asked else 0.0


SCENARIOS = (
    Scenario("failures at random"),
    Scenario("the machine slows 5 % of both by half", 0.05, 1.5, both=True),
    Scenario("the machine slows 5 % of one by half", 0.05, 1.5),
    Scenario("the network slows 5 % of one by half", 0.05, 1.5, part_of_the_question=True),
    Scenario("the network doubles 10 % of one", 0.1, 2.0, part_of_the_question=True),
)


@dataclass(frozen=True)
class Cell:
    """Mean gains and shares of intervals that miss, without the excluded blocks and with them."""

    gain: float
    misses: float
    gain_with_excluded: float
    misses_with_excluded: float
    excluded: float


def simulate(
    scenario: Scenario, sites: int, repetitions: int, studies: int, draw: np.random.Generator
) -> Cell:
    """One cell; `studies` is a multiple of STUDIES_AT_ONCE."""
    shape = (STUDIES_AT_ONCE, sites, repetitions)
    parts = [_part(scenario, shape, draw) for _ in range(studies // STUDIES_AT_ONCE)]
    return Cell(*np.mean(parts, axis=0).tolist())


def _part(
    scenario: Scenario, shape: tuple[int, int, int], draw: np.random.Generator
) -> tuple[float, ...]:
    both, failed = [], np.zeros(shape, dtype=bool)
    for slowed_too in (True, scenario.both):
        shared = DISTURBANCE * draw.standard_normal((shape[0], 1, shape[2]))
        logs = SPREAD * (draw.standard_normal(shape) + shared)
        slowed = (draw.random(shape) < scenario.share) & slowed_too
        failed |= draw.random(shape) < np.where(slowed, FAILS_SLOWED, FAILS)
        both.append(logs + np.log(scenario.times) * slowed)
    difference = both[0] - both[1]
    kept = np.where(failed, np.nan, difference)
    return (
        *_answers(kept, scenario.truth),
        *_answers(difference, scenario.truth),
        float(failed.mean()),
    )


@np.errstate(divide="ignore", invalid="ignore")
def _answers(difference: Floats, truth: float) -> tuple[float, float]:
    value, error, freedom = over_repetitions(difference)
    missed = np.abs(value - truth) > stats.t.ppf(0.975, freedom) * error
    return float(np.expm1(value).mean()), float(missed.mean())


def main(quick: bool) -> None:
    """The table, in Markdown."""
    heads = (
        "what fails", "sites", "repetitions", "blocks excluded", "true gain", "gain without them",
        "misses", "gain with them", "misses",
    )  # fmt: skip
    print_head(heads)
    draw = np.random.Generator(np.random.PCG64(SEED))
    for scenario, size in product(SCENARIOS, SIZES):
        cell = simulate(scenario, *size, STUDIES_QUICK if quick else STUDIES, draw)
        said = (
            f"{cell.excluded:.1%}", f"{np.expm1(scenario.truth):+.1%}", f"{cell.gain:+.1%}",
            f"{cell.misses:.1%}", f"{cell.gain_with_excluded:+.1%}",
            f"{cell.misses_with_excluded:.1%}",
        )  # fmt: skip
        print(f"| {' | '.join((scenario.name, *map(str, size), *said))} |", flush=True)


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
