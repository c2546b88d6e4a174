"""Simulate what lost loads cost a gain: `python -m benchmarks.statistics.lost_blocks [--quick]`.

Synthetic studies as in `benchmarks.statistics.intervals`, of five stacks over sites whose gains
differ (standard deviation 0.1), in which a share of the loads fails. Printed for every cell: the
share of pairs that is left, where a pair needs its own two loads and where it needs its whole
block; how much of what is there is used, as the square of the whole study's width over this one's,
by pairs centred by site, by the plain mean of each repetition, and by repetitions that have every
site; and how often the interval misses the truth, Student's of a fixed number of repetitions and
the sequence at any of its looks. A minute; nothing is asserted.
"""

import sys
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.shared.markdown import print_head
from benchmarks.statistics.intervals import DISTURBANCE, SEED, SPREAD
from eyelevel.analysis.stats.estimate import Floats
from eyelevel.analysis.stats.paired_gains import mean_over_repetitions, repetition_values
from eyelevel.analysis.stats.sequential import Horizon, reach_in_errors

BETWEEN_SITES = 0.1
STACKS = 5
LOOK_FIRST = 6
LOST = (0.0, 0.03, 0.10)
SIZES = ((4, 10), (10, 31), (38, 31), (38, 60))
STUDIES, STUDIES_QUICK = 1000, 50


@dataclass(frozen=True)
class Cell:
    """Shares: of pairs left, of what is there that is used, and of studies that miss."""

    pairs: float
    pairs_of_whole_blocks: float
    used: float
    used_plain: float
    used_whole: float
    misses: float
    misses_ever: float


def simulate(lost: float, size: tuple[int, int], studies: int, draw: np.random.Generator) -> Cell:
    """Return one cell: equal stacks but for the sites' own gains, whose mean is the truth."""
    rows = [_study(lost, size, draw) for _ in range(studies)]
    left, whole_left, squares, squares_plain, full, every, misses, ever = np.array(rows).T
    of_whole_study = full.mean()
    return Cell(
        float(left.mean()),
        float(whole_left.mean()),
        *(
            float(of_whole_study / np.nanmean(each) / left.mean())
            for each in (squares, squares_plain)
        ),
        float(np.mean(every) / left.mean()),
        float(misses.mean()),
        float(ever.mean()),
    )


def _study(lost: float, size: tuple[int, int], draw: np.random.Generator) -> tuple[float, ...]:
    sites, repetitions = size
    own = BETWEEN_SITES * draw.standard_normal(sites)
    shared = DISTURBANCE * draw.standard_normal((2, 1, repetitions))
    logs = SPREAD * (draw.standard_normal((2, *size)) + shared)
    whole = own[:, None] + logs[0] - logs[1]
    failed = draw.random((STACKS, *size)) < lost
    differences = np.where(failed[:2].any(axis=0), np.nan, whole)
    of_whole_blocks = ~failed.any(axis=0)
    found, full = mean_over_repetitions(differences), mean_over_repetitions(whole)
    plain = np.nanmean(differences[:, ~np.isnan(differences).all(axis=0)], axis=0)
    assert found.standard_error and full.standard_error and found.low is not None
    assert found.high is not None
    truth = float(own.mean())
    return (
        float((~np.isnan(differences)).mean()),
        float(of_whole_blocks.mean()),
        found.standard_error**2,
        float(plain.var(ddof=1)) / len(plain),
        full.standard_error**2,
        float((~np.isnan(differences)).all(axis=0).mean()),
        not found.low <= truth <= found.high,
        misses_ever(differences, truth),
    )


def misses_ever(differences: Floats, truth: float) -> bool:
    """Return whether the confidence sequence misses at any look, from LOOK_FIRST repetitions on."""
    horizon = Horizon(LOOK_FIRST, differences.shape[1])
    for n in range(LOOK_FIRST, differences.shape[1] + 1):
        so_far = differences[:, :n]
        if (~np.isnan(so_far)).sum(axis=1).min() < 2:
            continue
        values = repetition_values(so_far)
        error = values.std(ddof=1) / np.sqrt(len(values))
        if abs(values.mean() - truth) > reach_in_errors(len(values), 0.05, horizon) * error:
            return True
    return False


def main(quick: bool) -> None:
    """The table, in Markdown."""
    heads = (
        "loads lost", "sites", "repetitions", "pairs left", "pairs of whole blocks",
        "used, centred by site", "used, plain mean", "used, every site there", "misses",
        "sequence ever misses",
    )  # fmt: skip
    print_head(heads)
    draw = np.random.Generator(np.random.PCG64(SEED))
    for lost, size in product(LOST, SIZES):
        cell = simulate(lost, size, STUDIES_QUICK if quick else STUDIES, draw)
        shares = (
            cell.pairs, cell.pairs_of_whole_blocks, cell.used, cell.used_plain, cell.used_whole,
            cell.misses, cell.misses_ever,
        )  # fmt: skip
        print(
            f"| {' | '.join((f'{lost:.0%}', *map(str, size), *(f'{s:.1%}' for s in shares)))} |",
            flush=True,
        )


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
