"""Measure power at the stated effect: `python -m benchmarks.statistics.sensitivity [--quick]`.

Synthetic studies in which one comparison truly differs, by what the report and `plan estimate` call
the smallest difference that is not often missed, with the spread of loads known, and no other does.
Printed for every cell: the effect, and the power, which is how often that comparison is called
faster after Holm's correction with the median on its side, as in a report; and the winner's curse:
by how much the claimed gains exceed the true one. Then what studies state by their own errors: the
middle half of them, as shares of what is true. Two minutes; nothing is asserted.
"""

import sys
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import stats

from benchmarks.shared.markdown import print_head
from benchmarks.statistics.pooled import reaches_of
from eyelevel.analysis.sensitivity import smallest_effect
from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL, Floats, detectable_effect
from eyelevel.analysis.stats.pooled import freedom_of

SPREAD = 0.1  # of a load's logarithm
SEED = 302
BLOCKS, SITES = (3, 4, 5, 10, 31), (2, 10, 38)
FAMILIES = {1: (2, 1), 2: (3, 1), 4: (3, 2), 5: (6, 1), 8: (5, 2)}
"""Numbers of stacks and networks by the number of comparisons that they make."""
STUDIES, STUDIES_QUICK = 4000, 400
LOADS_MAX = 4_000_000  # at once


@dataclass(frozen=True)
class Cell:
    """One row of the table.

    `effect` is a log ratio; `overstated`: the claims' mean over it, less one; `stated`: the
    quartiles of what studies state by their own errors, over `effect`.
    """

    effect: float
    power: float
    overstated: float
    stated: tuple[float, float]


def simulate(
    blocks: int, comparisons: int, sites: int, studies: int, draw: np.random.Generator
) -> Cell:
    """Return one cell."""
    stacks, networks = FAMILIES[comparisons]
    error = SPREAD * (2 / sites / blocks) ** 0.5
    freedom = freedom_of(stacks, blocks - 1)
    level = SIGNIFICANCE_LEVEL / comparisons
    effect = float(-np.log1p(-smallest_effect(error, freedom, comparisons)))
    of_study = stacks * networks * sites * blocks
    parts = max(1, round(studies * of_study / LOADS_MAX))
    found = [
        _studies(effect, blocks, comparisons, sites, max(1, studies // parts), draw)
        for _ in range(parts)
    ]
    claimed, gains, errors = (np.concatenate(each) for each in zip(*found, strict=True))
    stated = detectable_effect(1.0, freedom, level) * np.quantile(errors, (0.25, 0.75)) / effect
    overstated = gains[claimed].mean() / -effect - 1
    return Cell(effect, float(claimed.mean()), float(overstated), (stated[0], stated[1]))


def _studies(
    effect: float,
    blocks: int,
    comparisons: int,
    sites: int,
    studies: int,
    draw: np.random.Generator,
) -> tuple[Floats, Floats, Floats]:
    """Return whether each study claims the true difference, its gain, and the network's error."""
    stacks, networks = FAMILIES[comparisons]
    logs = SPREAD * draw.standard_normal((networks, studies, stacks, sites, blocks))
    logs[0, :, 1] -= effect
    p_values, gains = np.empty((2, comparisons, studies))
    freedom = freedom_of(stacks, blocks - 1)
    squares = np.zeros(studies)
    for place, (network, stack) in enumerate(product(range(networks), range(1, stacks))):
        gains[place], reaches = reaches_of(logs[network].mean(axis=2), stack)
        errors = reaches[-1] / stats.t.ppf(0.975, freedom)
        p_values[place] = 2 * stats.t.sf(np.abs(gains[place]) / errors, freedom)
        squares += errors**2 / (stacks - 1) if network == 0 else 0.0
    order = np.argsort(p_values, axis=0)
    stepped = np.take_along_axis(p_values, order, 0) * np.arange(comparisons, 0, -1)[:, None]
    adjusted = np.empty_like(stepped)
    np.put_along_axis(adjusted, order, np.maximum.accumulate(stepped, axis=0), 0)
    medians = np.median(np.median(logs[0, :, 1] - logs[0, :, 0], axis=1), axis=1)
    claimed = (adjusted[0] <= SIGNIFICANCE_LEVEL) & (gains[0] < 0) & (medians < 0)
    return claimed, gains[0], np.sqrt(squares)


def main(quick: bool) -> None:
    """The table, in Markdown."""
    print_head(
        ["comparisons", "blocks", "sites", "effect", "power", "claims overstate it by", "stated"]
    )
    draw = np.random.Generator(np.random.PCG64(SEED))
    studies = STUDIES_QUICK if quick else STUDIES
    for comparisons, blocks, sites in product(FAMILIES, BLOCKS, SITES):
        cell = simulate(blocks, comparisons, sites, studies, draw)
        low, high = cell.stated
        print(
            f"| {comparisons} | {blocks} | {sites} | {-np.expm1(-cell.effect):.1%} | "
            f"{cell.power:.1%} | {cell.overstated:+.0%} | {low:.2f} to {high:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
