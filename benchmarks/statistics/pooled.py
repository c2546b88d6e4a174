"""Compare errors of gains: `python -m benchmarks.statistics.pooled [--quick]`.

Made-up studies of three to six equal stacks, each compared with the first, by the functions that
reports use. Printed for every cell: the mean half width over that of Student's t of the two stacks
alone, and how often the interval misses, of the comparison that misses most: by these two stacks
alone, by the error of the randomised block design, and by the moderated error that reports have.
Loads are normal, of t with three degrees of freedom, skewed (exponential), or of two sharp modes;
in some a disturbance is shared by the sites of a repetition, or one stack scatters 1.6 times as
much as the others. A few minutes; nothing is asserted.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import stats

from benchmarks.shared.markdown import print_head
from eyelevel.stats.estimate import Floats
from eyelevel.stats.pooled import freedom_of

SPREAD, NOISIER = 0.1, 1.6
MODE_SPREAD = 0.05  # of each of two modes, in units of half their distance
SEED = 303
BLOCKS, STACKS = (3, 5, 10, 31), (3, 4, 6)
STUDIES, STUDIES_QUICK = 20_000, 1000


def _two_modes(draw: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    modes = np.where(draw.random(shape) < 0.5, -1.0, 1.0)
    return modes + MODE_SPREAD * draw.standard_normal(shape)


NOISES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Floats]] = {
    "normal": lambda draw, shape: draw.standard_normal(shape),
    "t3": lambda draw, shape: draw.standard_t(3, shape),
    "skewed": lambda draw, shape: draw.exponential(size=shape),
    "two modes": _two_modes,
}


@dataclass(frozen=True)
class Scenario:
    """A distribution of loads; `noisier`: place of the stack that scatters more (0: reference)."""

    name: str
    noise: str = "normal"
    sites: int = 1
    shared: float = 0.0
    noisier: int | None = None


SCENARIOS = (
    Scenario("normal"),
    Scenario("t3", "t3"),
    Scenario("t3, four sites", "t3", 4),
    Scenario("skewed", "skewed"),
    Scenario("two modes", "two modes"),
    Scenario("two modes, four sites", "two modes", 4),
    Scenario("shared by ten sites", sites=10, shared=0.3),
    Scenario("one stack noisier", noisier=-1),
    Scenario("the reference noisier", noisier=0),
)


@dataclass(frozen=True)
class Cell:
    """Widths and misses: of two stacks alone, of randomised blocks, and of the moderated error."""

    widths: tuple[float, float, float]
    misses: tuple[float, float, float]


def logs_of(
    scenario: Scenario, stacks: int, blocks: int, studies: int, draw: np.random.Generator
) -> Floats:
    """Return the logarithms of loads, studies x stacks x sites x repetitions."""
    shape = (studies, stacks, scenario.sites, blocks)
    logs = SPREAD * NOISES[scenario.noise](draw, shape)
    if scenario.shared:
        logs += SPREAD * scenario.shared * draw.standard_normal((studies, stacks, 1, blocks))
    if scenario.noisier is not None:
        logs[:, scenario.noisier] *= NOISIER
    return logs


def simulate(
    scenario: Scenario, stacks: int, blocks: int, studies: int, draw: np.random.Generator
) -> Cell:
    """Return one cell."""
    means = logs_of(scenario, stacks, blocks, studies, draw).mean(axis=2)
    misses, widths = np.zeros((2, 3, stacks - 1))
    for other in range(1, stacks):
        gains, reaches = reaches_of(means, other)
        misses[:, other - 1] = (np.abs(gains) > reaches).mean(axis=1)
        widths[:, other - 1] = reaches.mean(axis=1)
    widths = widths.mean(axis=1) / widths[0].mean()
    alone, design, moderated = misses.max(axis=1).tolist()
    return Cell((1.0, float(widths[1]), float(widths[2])), (alone, design, moderated))


def reaches_of(means: Floats, stack: int) -> tuple[Floats, Floats]:
    """Return each study's log gain of a stack against the first, and its three half widths.

    `means`: studies x stacks x repetitions. `eyelevel.stats.pooled.pooled_log_gain` of many studies
    at once, with every block there.
    """
    _, stacks, blocks = means.shape
    differences = means[:, stack] - means[:, 0]
    own = differences.var(axis=1, ddof=1)
    residuals = means - means.mean(axis=1, keepdims=True) - means.mean(axis=2, keepdims=True)
    residuals += means.mean(axis=(1, 2), keepdims=True)
    design_freedom = (stacks - 1) * (blocks - 1)
    design = 2 * (residuals**2).sum(axis=(1, 2)) / design_freedom
    others = ((stacks - 1) * design - own) / (stacks - 2) if stacks > 2 else 0 * own
    freedom = freedom_of(stacks, blocks - 1)
    moderated = ((blocks - 1) * own + (freedom - blocks + 1) * others) / freedom
    reaches = [
        stats.t.ppf(0.975, of) * np.sqrt(variance / blocks)
        for variance, of in ((own, blocks - 1), (design, design_freedom), (moderated, freedom))
    ]
    return differences.mean(axis=1), np.array(reaches)


def main(quick: bool) -> None:
    """The table, in Markdown."""
    heads = (
        "loads", "blocks", "stacks", "width: block design", "moderated", "misses: two stacks alone",
        "block design", "moderated",
    )  # fmt: skip
    print_head(heads)
    draw = np.random.Generator(np.random.PCG64(SEED))
    studies = STUDIES_QUICK if quick else STUDIES
    for scenario, blocks, stacks in product(SCENARIOS, BLOCKS, STACKS):
        cell = simulate(scenario, stacks, blocks, studies, draw)
        cells = [f"{width:.2f}" for width in cell.widths[1:]]
        cells += [f"{share:.1%}" for share in cell.misses]
        print(f"| {scenario.name} | {blocks} | {stacks} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
