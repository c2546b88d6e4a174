"""Simulate what exclusions do to a gain: `python -m benchmarks.statistics.exclusions [--quick]`.

Synthetic studies as in `benchmarks.statistics.intervals`, of three stacks of which the second
is compared with the first. Other programs slow some of the machine's moments, or the network slows
some loads. By the rule in force (`eyelevel.analysis.trials.starvation`), a block is left out with
the loads of all stacks if other programs had more than the bound in one of its loads, however long
the loads took; what the network slows is left out by nothing. A load whose own instrument fails
(LOST of all, or films of slow loads that lose frames) takes the pairs away that it is part of.

Printed for every cell: the share of pairs that are excluded, the true gain, and without the
excluded pairs (what a report claims by) and with them the mean gain and how often its 95 % interval
misses. Seconds; nothing is asserted.
"""

import sys
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.shared.markdown import print_head
from benchmarks.statistics.intervals import DISTURBANCE, SEED, SPREAD, over_repetitions
from eyelevel.analysis.stats.estimate import Floats
from eyelevel.analysis.trials.starvation import CPU_FOREIGN_SHARE_MAX

STACKS = 3
LOST = 0.02
"""The share of all loads whose instrument fails, whatever else happens."""
FOREIGN_QUIET, FOREIGN_BUSY = (0.0, 0.08), (0.05, 0.45)
"""The ranges of other programs' share of the CPU, which is uniform, in quiet and in slow moments:
one in eight slow moments is below the bound."""
SIZES = ((1, 31), (10, 10), (10, 31))
STUDIES, STUDIES_QUICK, STUDIES_AT_ONCE = 4000, 400, 200


@dataclass(frozen=True)
class Scenario:
    """The share of moments in which a load takes `times` as long, by the place of its stack.

    `by_others`: other programs make the moment, and their time shows it if it is `seen`; else the
    network makes it, which is part of the question. A moment is one load's, or lasts a block.
    `films`: how often the film of a slow load loses frames, by the place of its stack.
    """

    name: str
    share: float = 0.0
    times: tuple[float, float, float] = (1.0, 1.0, 1.0)
    by_others: bool = False
    seen: bool = True
    lasts_a_block: bool = False
    films: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def truth(self) -> float:
        """The true log ratio: what the network does is asked about, what a busy machine is not."""
        return 0.0 if self.by_others else self.share * float(np.log(self.times[1] / self.times[0]))


SLOW = 1.5
ONE, ALL = (1.0, SLOW, 1.0), (SLOW, SLOW, SLOW)

SCENARIOS = (
    Scenario("the instrument fails at random"),
    Scenario("others slow 5 % of all loads by half", 0.05, ALL, by_others=True),
    Scenario("others slow 5 % of all blocks by half", 0.05, ALL, True, lasts_a_block=True),
    Scenario("others slow 5 % of one stack's loads by half", 0.05, ONE, by_others=True),
    Scenario("the same, and nobody sees it", 0.05, ONE, by_others=True, seen=False),
    Scenario("the network slows 5 % of one stack's loads by half", 0.05, ONE),
    Scenario("the network doubles 10 % of one stack's loads", 0.1, (1.0, 2.0, 1.0)),
    Scenario(
        "slow films lose frames, of one stack twice as often", 0.05, ALL, films=(0.1, 0.2, 0.1)
    ),
)


@dataclass(frozen=True)
class Cell:
    """Mean gains and shares of intervals that miss, without the excluded pairs and with them."""

    gain: float
    misses: float
    gain_with_excluded: float
    misses_with_excluded: float
    excluded: float


def simulate(
    scenario: Scenario, sites: int, repetitions: int, studies: int, draw: np.random.Generator
) -> Cell:
    """Return one cell; `studies` is a multiple of STUDIES_AT_ONCE."""
    shape = (STUDIES_AT_ONCE, sites, repetitions, STACKS)
    parts = [_part(scenario, shape, draw) for _ in range(studies // STUDIES_AT_ONCE)]
    return Cell(*np.mean(parts, axis=0).tolist())


def _part(
    scenario: Scenario, shape: tuple[int, int, int, int], draw: np.random.Generator
) -> tuple[float, ...]:
    shared = DISTURBANCE * draw.standard_normal((shape[0], 1, *shape[2:]))
    logs = SPREAD * (draw.standard_normal(shape) + shared)
    moments = (*shape[:3], 1) if scenario.lasts_a_block else shape
    slow = np.broadcast_to(draw.random(moments) < scenario.share, shape)
    logs += np.log(scenario.times) * slow
    films = slow & (draw.random(shape) < scenario.films)
    lost = films | (draw.random(shape) < LOST)
    failed = lost[..., 0] | lost[..., 1] | _is_disturbed(scenario, slow, draw)
    difference = logs[..., 1] - logs[..., 0]
    kept = np.where(failed, np.nan, difference)
    return (
        *_answers(kept, scenario.truth),
        *_answers(difference, scenario.truth),
        float(failed.mean()),
    )


def _is_disturbed(
    scenario: Scenario, slow: NDArray[np.bool_], draw: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which blocks other programs disturbed, as the load shows in which they had most."""
    busy = slow & scenario.by_others & scenario.seen
    foreign = np.where(
        busy, draw.uniform(*FOREIGN_BUSY, slow.shape), draw.uniform(*FOREIGN_QUIET, slow.shape)
    )
    disturbed: NDArray[np.bool_] = foreign.max(axis=3) > CPU_FOREIGN_SHARE_MAX
    return disturbed


@np.errstate(divide="ignore", invalid="ignore")
def _answers(difference: Floats, truth: float) -> tuple[float, float]:
    value, error, freedom = over_repetitions(difference)
    missed = np.abs(value - truth) > stats.t.ppf(0.975, freedom) * error
    return float(np.expm1(value).mean()), float(missed.mean())


def main(quick: bool) -> None:
    """The table, in Markdown."""
    heads = (
        "what happens", "sites", "repetitions", "pairs excluded", "true gain", "gain without them",
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
