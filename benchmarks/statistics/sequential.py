"""Simulate how often `eyelevel ask` finds a difference: `python -m
benchmarks.statistics.sequential`.

Synthetic studies of at most 60 blocks by `ask`'s own rule
(`eyelevel.plan.file.change.question_plan`). A block's log ratio is normal with the standard
deviation `sd`, around the true one; of several comparisons, a network each, all have that truth.
With tails a share of the loads takes so many times as long, in both stacks or in the reference
alone, where the truth is the mean's.

Printed for every cell: the share of comparisons that are called faster (by less than matters or
not) and that end with a verdict, the median number of blocks that a comparison used, the share that
ended before the last block; and of studies those with a false verdict, and those of which any
comparison's interval missed its truth, ever up to the last block and when it stopped, at most 5 %
each. A verdict is false if it has the wrong sign, or calls a difference that matters none. `--run
DIR` draws the blocks of a run of one site, network and comparison instead, with replacement, scaled
by 0.85 and by 1, as they scatter and widened to 0.2, and as they followed one another. Half a
minute; nothing is asserted.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.shared.markdown import print_head
from eyelevel.analysis.decisions import rule_of
from eyelevel.analysis.metrics.catalogue import measure
from eyelevel.analysis.stats.stopping_rule import (
    ALIKE,
    CLEAR_SIGN,
    SMALL,
    Rule,
    Studies,
    run_studies,
)
from eyelevel.analysis.study import read_results
from eyelevel.analysis.trials.facts import Measure
from eyelevel.plan.file.change import BLOCKS_MAX, BLOCKS_MIN, question_plan
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.networks.presets import NETWORKS

Floats = NDArray[np.float64]
Draw = Callable[[tuple[int, int]], Floats]

CASES = (
    *product((0.0, -0.03, -0.05, -0.08), (0.05, 0.07)),
    *product((0.0, -0.05, -0.10, -0.15, -0.20, -0.30), (0.1, 0.2, 0.3)),
)
"""Truths and spreads: of quiet pages and small gains, and of others."""
COMPARISONS = (1, 2, 4)
SCALE, SPREAD = 0.85, 0.2
STUDIES, STUDIES_QUICK = 2000, 200
SEED = 16


@dataclass(frozen=True)
class Tail:
    """`share` of the loads take `times` as long, in both stacks or in the reference alone."""

    name: str
    share: float
    times: float
    both: bool

    @property
    def truth(self) -> float:
        """The mean log ratio; the median's is 0."""
        return 0.0 if self.both else -self.share * math.log(self.times)


TAILS = (
    Tail("10 % x 2 in both", 0.10, 2, True),
    Tail("3 % x 4 in both", 0.03, 4, True),
    Tail("10 % x 2 in the reference", 0.10, 2, False),
    Tail("3 % x 4 in the reference", 0.03, 4, False),
)


@dataclass(frozen=True)
class Cell:
    """Shares of comparisons, and of studies those with a miss; `blocks` is the median."""

    faster: float
    verdict: float
    blocks: float
    early: float
    false: float
    missed_ever: float
    missed_at_stop: float


def ask_rule(comparisons: int) -> Rule:
    """`ask`'s of one question on so many networks."""
    names = [network.name for network in NETWORKS[:comparisons]]
    return rule_of(parse_plan(question_plan(["agency"], "http3", names), "question"))


def simulate(log_ratios: Draw, truth: float, comparisons: int, studies: int) -> Cell:
    """Studies of so many comparisons; `log_ratios` draws comparisons x blocks."""
    rows = log_ratios((studies * comparisons, BLOCKS_MAX))
    found = run_studies(ask_rule(comparisons), rows, BLOCKS_MIN, truth)
    at_stop = (found.low > truth) | (found.high < truth)
    of_study = (studies, comparisons)
    false = false_verdicts(found, truth, ask_rule(comparisons))
    return Cell(
        faster=float((found.claim < 0).mean()),
        verdict=float(np.isin(found.state, (CLEAR_SIGN, ALIKE, SMALL)).mean()),
        blocks=float(np.median(found.blocks)),
        early=float((found.blocks < BLOCKS_MAX).mean()),
        false=float(false.reshape(of_study).any(axis=1).mean()),
        missed_ever=float(found.missed_ever.reshape(of_study).any(axis=1).mean()),
        missed_at_stop=float(at_stop.reshape(of_study).any(axis=1).mean()),
    )


def false_verdicts(found: Studies, truth: float, rule: Rule) -> NDArray[np.bool_]:
    """Return whether each study's verdict is wrong of a mean log ratio of `truth`.

    An effect at a bound of what matters, to rounding, does matter.
    """
    low, high = rule.bounds
    matters = truth <= low + 1e-12 or truth >= high - 1e-12
    wrong_sign = (found.claim != 0) & (found.claim != np.sign(truth))
    wrong: NDArray[np.bool_] = wrong_sign | (np.isin(found.state, (ALIKE, SMALL)) & matters)
    return wrong


def normal(truth: float, spread: float, draw: np.random.Generator) -> Draw:
    """Log ratios of a gain of `truth`."""
    return lambda shape: math.log1p(truth) + spread * draw.standard_normal(shape)


def with_tail(tail: Tail, spread: float, draw: np.random.Generator) -> Draw:
    """Log ratios of stacks that are alike but for the tail."""

    def log_ratios(shape: tuple[int, int]) -> Floats:
        own, other = (
            np.where(draw.random(shape) < tail.share, math.log(tail.times), 0.0) for _ in range(2)
        )
        values: Floats = spread * draw.standard_normal(shape) + own * tail.both - other
        return values

    return log_ratios


def resampled(blocks: Floats, scale: float, draw: np.random.Generator) -> Draw:
    """Real blocks' log ratios, drawn with replacement, of a stack that is so much faster."""
    return lambda shape: math.log(scale) + draw.choice(blocks, shape)


def in_a_row(blocks: Floats, scale: float, draw: np.random.Generator) -> Draw:
    """Return a draw of consecutive blocks, starting anywhere: this includes the effect of a quiet
    or busy quarter of an hour."""
    windows = np.lib.stride_tricks.sliding_window_view(blocks, BLOCKS_MAX)
    return lambda shape: math.log(scale) + draw.choice(windows, shape[0])[:, : shape[1]]


def blocks_of(directory: Path, measured_by: Measure = measure) -> Floats:
    """The log ratio of every block that is compared, in order; of one site and comparison."""
    results = read_results(directory, measured_by)
    (cell,) = (cell for cell in results.cells if cell.metric == results.primary_metric)
    repetitions, values, reference = cell.loads
    log_ratios: Floats = np.log(values) - np.log(reference)
    return log_ratios[np.argsort(repetitions)]


def synthetic_rows(studies: int, draw: np.random.Generator) -> Iterator[tuple[str, str, int, Cell]]:
    """Yield the truth, the spread, the comparisons and their results."""
    for (truth, spread), comparisons in product(CASES, COMPARISONS):
        cell = simulate(normal(truth, spread, draw), math.log1p(truth), comparisons, studies)
        yield f"{truth:.0%}", f"{spread:g}", comparisons, cell
    for tail, comparisons in product(TAILS, COMPARISONS):
        cell = simulate(with_tail(tail, 0.1, draw), tail.truth, comparisons, studies)
        yield f"0, {tail.name}", "0.1", comparisons, cell


def rows_of_run(
    directory: Path, studies: int, draw: np.random.Generator
) -> Iterator[tuple[str, str, int, Cell]]:
    """Yield the results for a real run's blocks, as they are and with deviations widened to SPREAD;
    and for consecutive ones, if there are enough."""
    real = blocks_of(directory)
    mean, spread = float(real.mean()), float(real.std(ddof=1))
    for widened, scale, comparisons in product((spread, SPREAD), (SCALE, 1.0), COMPARISONS):
        blocks = mean + (real - mean) * widened / spread
        truth = math.log(scale) + mean
        cell = simulate(resampled(blocks, scale, draw), truth, comparisons, studies)
        yield f"{len(blocks)} real blocks x {scale:g}", f"{widened:.2f}", comparisons, cell
    if len(real) < BLOCKS_MAX:
        return
    for scale, comparisons in product((SCALE, 1.0), COMPARISONS):
        truth = math.log(scale) + mean
        cell = simulate(in_a_row(real, scale, draw), truth, comparisons, studies)
        name = f"{BLOCKS_MAX} of {len(real)} in a row x {scale:g}"
        yield name, f"{spread:.2f}", comparisons, cell


def main(arguments: list[str]) -> None:
    """The table, in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, help="a run whose blocks are drawn")
    parser.add_argument("--quick", action="store_true", help="few studies")
    given = parser.parse_args(arguments)
    studies = STUDIES_QUICK if given.quick else STUDIES
    draw = np.random.Generator(np.random.PCG64(SEED))
    heads = (
        "truth", "sd", "comparisons", "called faster", "a verdict", "median blocks",
        "ended early", "false verdict", "missed ever", "missed at the stop",
    )  # fmt: skip
    print_head(heads)
    rows = rows_of_run(given.run, studies, draw) if given.run else synthetic_rows(studies, draw)
    for truth, spread, comparisons, cell in rows:
        words = (truth, spread, str(comparisons), f"{cell.faster:.1%}", f"{cell.verdict:.1%}")
        words = (*words, f"{cell.blocks:.0f}")
        shares = (cell.early, cell.false, cell.missed_ever, cell.missed_at_stop)
        print(f"| {' | '.join((*words, *(f'{share:.1%}' for share in shares)))} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
