"""Simulate drift and its warnings: `python -m benchmarks.statistics.drift [--quick]`.

Synthetic studies of equal stacks, the first of which drifts or not: an autoregressive part has a
share of its variance, and falls to 1/e within five repetitions. Printed for every cell: how often
the report warns of a drift, what it states that this share would be (of 30 % alone), how often the
interval of the autocorrelation holds the true one, and how often the gain of the drifting stack is
claimed. Then the same warnings of studies by the rule of `ask`, which end by what they saw.
A few minutes; nothing is asserted.
"""

import math
import sys
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.shared.markdown import print_head
from benchmarks.statistics.pooled import reaches_of
from eyelevel.analysis.stats.autocorrelation import DRIFT_LENGTH, drift, lag_one, noticed_share
from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL, Floats
from eyelevel.analysis.stats.sequential import Horizon
from eyelevel.analysis.stats.stopping_rule import Rule, run_studies
from eyelevel.plan.file.change import BLOCKS_MAX

SEED = 3012
BLOCKS, FAMILIES, SHARES = (5, 10, 31, 60), ((2, 1), (3, 2), (5, 2)), (0.0, 0.3, 0.6)
STUDIES, STUDIES_QUICK = 4000, 300
SKEW = 0.8  # of the logarithm of what is added to loads that are not normal


@dataclass(frozen=True)
class Cell:
    """One row of the table: shares of the simulated studies, 0 to 1."""

    warned: float
    stated: float
    held: float
    claimed: float


def loads_of(
    shape: tuple[int, int, int, int], share: float, draw: np.random.Generator, *, skewed: bool
) -> Floats:
    """Return studies x networks x stacks x repetitions, of which the second stack drifts."""
    loads = draw.standard_normal(shape)
    if skewed:
        loads = np.exp(SKEW * loads)
        loads /= math.sqrt((math.exp(SKEW**2) - 1) * math.exp(SKEW**2))
    drifting = drift((*shape[:2], shape[3]), draw)
    loads[:, :, 1] = math.sqrt(1 - share) * loads[:, :, 1] + math.sqrt(share) * drifting
    return loads


def simulate(
    blocks: int,
    family: tuple[int, int],
    share: float,
    studies: int,
    draw: np.random.Generator,
    *,
    skewed: bool = False,
) -> Cell:
    """Return one cell."""
    stacks, networks = family
    loads = loads_of((studies, networks, stacks, blocks), share, draw, skewed=skewed)
    differences = loads[:, :, 1:] - loads[:, :, :1]
    found = [lag_one(each.reshape(-1, blocks)) for each in differences]
    true = share * math.exp(-1 / DRIFT_LENGTH) / 2 / (stacks - 1)
    gains, reaches = reaches_of(loads[:, 0], 1)
    pairs = tuple((stack, 0) for stack in range(1, stacks))
    return Cell(
        float(np.mean([(each.p or 1.0) <= SIGNIFICANCE_LEVEL for each in found])),
        noticed_share(blocks, stacks, pairs, networks),
        float(np.mean([(each.low or 0.0) <= true <= (each.high or 0.0) for each in found])),
        float(np.mean(np.abs(gains) > reaches[-1])),
    )


def warned_at_stop(spread: float, truth: float, studies: int, draw: np.random.Generator) -> float:
    """Return the share of studies by the rule of `ask` that warn of a drift where none is."""
    rule = Rule(0.05, SIGNIFICANCE_LEVEL, Horizon(6, BLOCKS_MAX))
    values = math.log1p(truth) + spread * draw.standard_normal((studies, BLOCKS_MAX))
    ended = run_studies(rule, values, 6).blocks
    found = [lag_one(row[:n]) for row, n in zip(values, ended.tolist(), strict=True)]
    return float(np.mean([(each.p or 1.0) <= SIGNIFICANCE_LEVEL for each in found]))


def main(quick: bool) -> None:
    """The tables, in Markdown."""
    heads = ["loads", "drift", "blocks", "stacks", "networks", "warned", "stated", "held", "claims"]
    print_head(heads)
    draw = np.random.Generator(np.random.PCG64(SEED))
    studies = STUDIES_QUICK if quick else STUDIES
    for skewed, share, family, blocks in product((False, True), SHARES, FAMILIES, BLOCKS):
        if skewed and share:
            continue
        cell = simulate(blocks, family, share, studies, draw, skewed=skewed)
        shares = (cell.warned, cell.stated, cell.held, cell.claimed)
        cells = ["skewed" if skewed else "normal", f"{share:.0%}", str(blocks), *map(str, family)]
        print(f"| {' | '.join((*cells, *(f'{each:.1%}' for each in shares)))} |", flush=True)
    print_head(["block sd", "truth", "warned at the stop"])
    for spread, truth in product((0.05, 0.07, 0.1), (0.0, -0.05, -0.1)):
        warned = warned_at_stop(spread, truth, studies, draw)
        print(f"| {spread} | {truth:.0%} | {warned:.1%} |", flush=True)


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
