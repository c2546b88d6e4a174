"""Simulate what a study with timeouts can find: `python -m benchmarks.statistics.timeouts
[--quick]`.

Synthetic studies as in `benchmarks.statistics.intervals`; a share of the loads of both stacks,
or of the reference alone, never comes, and the limit is 60 times a usual load. Printed for every
cell: in what share of studies the gain has an interval, as it was while one timeout left none, and
as it is, with each timeout counted as the limit; how often that interval misses the geometric mean
of times up to the limit; the same of the mean difference, of studies in which a load timed out (no
interval sees a tail of which it has no load); how often one comparison would be called faster or
slower (its interval excludes no difference, and mean and median have one sign); and how often the
two counts of timeouts differ with p of at most 0.05. A minute; nothing is asserted.
"""

import math
import sys
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.shared.markdown import print_head
from benchmarks.statistics.intervals import DISTURBANCE, SEED, SPREAD
from eyelevel.analysis.stats.censoring import timeouts, up_to_limit
from eyelevel.analysis.stats.estimate import Estimate, Floats
from eyelevel.analysis.stats.paired_gains import difference_over_sites, geometric_gain, median_gain

LIMIT = 60.0
SHARES = ((0.001, True), (0.001, False), (0.01, False), (0.05, False), (0.3, True))
SIZES = ((1, 10), (1, 31), (10, 10), (10, 31), (38, 31))
STUDIES, STUDIES_QUICK = 1000, 50


@dataclass(frozen=True)
class Cell:
    """Shares of studies, not-a-number of none; misses are of those that have an interval."""

    determined_before: float
    determined: float
    misses: float
    difference_misses: float
    claims: float
    counts_differ: float


def simulate(
    share: float, both: bool, size: tuple[int, int], studies: int, draw: np.random.Generator
) -> Cell:
    """One cell; the same spread within both stacks, and no difference but in timeouts."""
    usual = math.exp(SPREAD**2 * (1 + DISTURBANCE**2) / 2)
    share_of_stack = share if both else 0.0
    truth = (share_of_stack - share) * math.log(LIMIT)
    truth_of_difference = (share_of_stack - share) * (LIMIT - usual)
    found = []
    for _ in range(studies):
        x, r = (_loads(each, size, draw) for each in (share_of_stack, share))
        limits = np.full(size[0], LIMIT)
        late = timeouts(x, r, limits)
        limited = up_to_limit(x, limits), up_to_limit(r, limits)
        gain = geometric_gain(*limited)
        agree = (gain.value or 0.0) * (median_gain(x, r).value or 0.0) > 0
        found.append(
            (
                not late.any,
                there := gain.determined and not late.too_many,
                _misses(gain, math.expm1(truth)) if there else math.nan,
                _misses(difference_over_sites(*limited), truth_of_difference)
                if late.any
                else math.nan,
                there and gain.excludes_zero and agree,
                late.p is not None and late.p <= 0.05,
            )
        )
    columns = np.array(found, dtype=float).T
    return Cell(*(float(there.mean()) if len(there := each[~np.isnan(each)]) else math.nan
                  for each in columns))  # fmt: skip


def _loads(share: float, size: tuple[int, int], draw: np.random.Generator) -> Floats:
    """Times of one stack, sites x repetitions; infinite where a load never comes."""
    shared = DISTURBANCE * draw.standard_normal((1, size[1]))
    times = np.exp(SPREAD * (draw.standard_normal(size) + shared))
    return np.where(draw.random(size) < share, math.inf, times)


def _misses(estimate: Estimate, truth: float) -> bool:
    assert estimate.low is not None and estimate.high is not None
    return not estimate.low <= truth <= estimate.high


def main(quick: bool) -> None:
    """The table, in Markdown."""
    heads = (
        "timeouts", "sites", "repetitions", "interval before", "now", "gain misses",
        "difference misses", "faster or slower", "counts differ",
    )  # fmt: skip
    print_head(heads)
    draw = np.random.Generator(np.random.PCG64(SEED))
    for (share, both), size in product(SHARES, SIZES):
        cell = simulate(share, both, size, STUDIES_QUICK if quick else STUDIES, draw)
        said = [
            "none" if math.isnan(value) else f"{value:.1%}"
            for value in (
                cell.determined_before, cell.determined, cell.misses, cell.difference_misses,
                cell.claims, cell.counts_differ,
            )
        ]  # fmt: skip
        name = f"{share:.1%} of {'both' if both else 'one'}"
        print(f"| {' | '.join((name, str(size[0]), str(size[1]), *said))} |", flush=True)


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
