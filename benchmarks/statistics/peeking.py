"""Simulate how often no difference looks like one: `python -m benchmarks.statistics.peeking
[--quick]`.

Synthetic studies in which no stack differs. Two questions:

1. Who looks after every repetition and ends the run at the first interval that excludes zero: how
   often is that by a given block? By t intervals, as the live line once showed, from the third
   block on; by the confidence sequences that `--peek` shows, over all comparisons.
2. A page of five networks and four stacks against a reference, with seven metrics: how often does
   any of its cells say faster or slower? Once the primary metric's did after Holm, the others and
   the break-even map by each one's own 95 % interval; now by the verdict alone.

A load's log time is normal, or one load in ten takes twice as long. The metrics of a load share
METRICS_ALIKE of their variance. Two or three minutes; nothing is asserted.
"""

import sys
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from eyelevel.analysis.claims import verdict
from eyelevel.analysis.decisions import FIRST_LOOK as FIRST_LOOK_SHOWN
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.gains.sequential import FAMILY_LEVEL
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.stats.families import holm
from eyelevel.analysis.stats.sequential import Horizon, reach_in_errors

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

COMPARISONS = (1, 4, 20)
LOOKS_AT = (10, 31, 300)
FIRST_LOOK = 3
SPREAD, TAIL_SHARE, TAIL_TIMES = 0.1, 0.1, 2.0
NETWORKS, STACKS, METRICS, METRICS_ALIKE = 5, 4, 7, 0.5
PAGE_BLOCKS = (5, 10, 31)
SMALLEST_EFFECT = 0.05
STUDIES, STUDIES_QUICK, STUDIES_AT_ONCE = 2000, 400, 200
PAGES = 5  # as many times more, since a page's claims are rarer
SEED = 16


def peeked(
    comparisons: int, tail: bool, studies: int, draw: np.random.Generator
) -> tuple[list[float], list[float]]:
    """The shares of studies that were ended by each of LOOKS_AT: by t, and by the sequences."""
    by_t, by_sequence = np.zeros((2, studies, max(LOOKS_AT)), dtype=bool)
    for start in range(0, studies, STUDIES_AT_ONCE):
        part = slice(start, min(start + STUDIES_AT_ONCE, studies))
        shape = (part.stop - part.start, comparisons, max(LOOKS_AT))
        mean, error = running(_loads(shape, tail, draw) - _loads(shape, tail, draw))
        by_t[part] = _excluded(mean, error, _t_limits(shape[-1])).any(axis=1)
        limits = sequence_limits(shape[-1], FAMILY_LEVEL / comparisons)
        by_sequence[part] = _excluded(mean, error, limits).any(axis=1)
    ended = (np.maximum.accumulate(each, axis=1).mean(axis=0) for each in (by_t, by_sequence))
    first, second = ([float(each[look - 1]) for look in LOOKS_AT] for each in ended)
    return first, second


def running(values: Floats) -> tuple[Floats, Floats]:
    """The mean of the values so far and its error, along the last axis."""
    n = np.arange(1, values.shape[-1] + 1)
    mean = values.cumsum(axis=-1) / n
    squares = (values**2).cumsum(axis=-1) - n * mean**2
    return mean, np.sqrt(np.maximum(squares, 0) / np.maximum(n - 1, 1) / n)


def sequence_limits(blocks: int, level: float) -> Floats:
    """`eyelevel.analysis.stats.sequential.confidence_sequence`: its reach over its error, by
    block."""
    horizon = Horizon(min(FIRST_LOOK_SHOWN, blocks), blocks)
    return np.array([reach_in_errors(n, level, horizon) for n in range(1, blocks + 1)])


def _t_limits(blocks: int) -> Floats:
    n = np.arange(1, blocks + 1)
    limits: Floats = stats.t.ppf(0.975, np.maximum(n - 1, 1))
    return np.where(n >= FIRST_LOOK, limits, np.inf)


def _excluded(mean: Floats, error: Floats, limits: Floats) -> Flags:
    with np.errstate(invalid="ignore"):  # of one block there is neither error nor limit
        excluded: Flags = np.abs(mean) > np.where(np.isinf(limits), np.inf, limits * error)
    return excluded


def _loads(shape: tuple[int, ...], tail: bool, draw: np.random.Generator) -> Floats:
    logs: Floats = SPREAD * draw.standard_normal(shape)
    return logs + np.log(TAIL_TIMES) * (draw.random(shape) < TAIL_SHARE) if tail else logs


@dataclass(frozen=True)
class Coloured:
    """Shares of pages in which any cell says faster or slower."""

    gains_before: float
    """The table of gains: the primary metric after Holm, the others by their own intervals."""
    break_even_before: float
    now: float
    """Every table and figure: where the primary metric's verdict says so."""


def coloured(blocks: int, tail: bool, studies: int, draw: np.random.Generator) -> Coloured:
    """The pages of `studies` runs of so many blocks."""
    found = np.array([_page(_differences(blocks, tail, draw)) for _ in range(studies)])
    return Coloured(*(float(share) for share in found.mean(axis=0)))


def _differences(blocks: int, tail: bool, draw: np.random.Generator) -> Floats:
    """Log ratios of one study: networks x stacks x metrics x blocks, the reference's loads one."""
    shape = (NETWORKS, STACKS + 1, METRICS, blocks)
    shared = _loads((*shape[:2], 1, blocks), tail, draw)
    logs = np.sqrt(METRICS_ALIKE) * shared + np.sqrt(1 - METRICS_ALIKE) * _loads(shape, tail, draw)
    difference: Floats = logs[:, 1:] - logs[:, :1]
    return difference


def _page(differences: Floats) -> tuple[bool, bool, bool]:
    blocks = differences.shape[-1]
    mean = differences.mean(axis=-1)
    error = differences.std(axis=-1, ddof=1) / np.sqrt(blocks)
    p = 2 * stats.t.sf(np.abs(mean) / error, blocks - 1)
    reach = stats.t.ppf(0.975, blocks - 1) * error
    medians = np.expm1(np.median(differences, axis=-1))
    others = bool((p[..., 1:] <= FAMILY_LEVEL).any())
    own = bool((p[..., 0] <= FAMILY_LEVEL).any())
    if p[..., 0].min() * p[..., 0].size > FAMILY_LEVEL:  # Holm's first step claims nothing
        return others, own, False
    verdicts = [
        verdict(_gain(mean[place], reach[place], medians[place], p_holm), SMALLEST_EFFECT)
        for place, p_holm in zip(
            ((*each, 0) for each in product(range(NETWORKS), range(STACKS))),
            holm(p[..., 0].ravel().tolist()),
            strict=True,
        )
    ]
    return True, own, any(each in ("faster", "slower") for each in verdicts)


def _gain(mean: float, reach: float, median: float, p_holm: float | None) -> NetworkGain:
    value, low, high = (float(np.expm1(each)) for each in (mean, mean - reach, mean + reach))
    gain, middle = Estimate(value, low, high), Estimate(float(median))
    return NetworkGain("", "", "", "", gain, p_holm, median=middle)


def main(quick: bool) -> None:
    """Both tables, in Markdown."""
    draw = np.random.Generator(np.random.PCG64(SEED))
    studies = STUDIES_QUICK if quick else STUDIES
    looks = [f"{name}, by block {look}" for name in ("t", "`--peek`") for look in LOOKS_AT]
    print(f"| loads | comparisons | {' | '.join(looks)} |\n| --- |{' ---: |' * (1 + len(looks))}")
    for tail, comparisons in product((False, True), COMPARISONS):
        shares = (
            f"{share:.1%}" for part in peeked(comparisons, tail, studies, draw) for share in part
        )
        print(f"| {_named(tail)} | {comparisons} | {' | '.join(shares)} |", flush=True)
    heads = ("gains, before", "break-even map, before", "anything, now")
    print(f"\n| loads | blocks | {' | '.join(heads)} |\n| --- |{' ---: |' * (1 + len(heads))}")
    for tail, blocks in product((False, True), PAGE_BLOCKS):
        page = coloured(blocks, tail, PAGES * studies, draw)
        shares = (f"{each:.1%}" for each in (page.gains_before, page.break_even_before, page.now))
        print(f"| {_named(tail)} | {blocks} | {' | '.join(shares)} |", flush=True)


def _named(tail: bool) -> str:
    return f"{TAIL_SHARE:.0%} x {TAIL_TIMES:g}" if tail else "log-normal"


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
