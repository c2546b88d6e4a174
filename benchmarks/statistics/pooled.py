"""Compare errors of gains: `python -m benchmarks.statistics.pooled [--quick] [--ms]`.

Synthetic studies of three to six equal stacks, each compared with the first, by the functions that
reports use. Printed for every cell: the mean half width over that of Student's t of the two stacks
alone, and how often the interval misses, of the comparison that misses most: by these two stacks
alone, by the error of the randomised block design, and by the moderated error that reports have.
Loads are normal, of t with three degrees of freedom, skewed (exponential), or of two sharp modes;
in some a disturbance is shared by the sites of a repetition, or one stack scatters 1.6 times as
much as the others. A few minutes; nothing is asserted.

With `--ms` the table is of differences in milliseconds instead, of stacks that gain 8 % or nothing:
how often their interval misses the mean difference, and how often only one of it and the gain's
excludes zero, by the error of the two stacks alone, by the moderated error that reports have, and
by the gain's interval times the mean of both stacks. Sites are alike, or up to ten times as slow.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import stats

from benchmarks.shared.markdown import print_head
from eyelevel.analysis.stats.estimate import Floats
from eyelevel.analysis.stats.pooled import freedom_of

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

    `means`: studies x stacks x repetitions. It computes
    `eyelevel.analysis.stats.pooled.estimate_pooled_log_gain` for many studies at once, with every
    block there.
    """
    _, stacks, blocks = means.shape
    differences = means[:, stack] - means[:, 0]
    own = differences.var(axis=1, ddof=1)
    design, others = _errors_beside(means, own)
    reaches = [
        _reach(own, blocks - 1, blocks),
        _reach(design, (stacks - 1) * (blocks - 1), blocks),
        _compute_moderated_reach(own, others, stacks, blocks),
    ]
    return differences.mean(axis=1), np.array(reaches)


def _errors_beside(means: Floats, own: Floats) -> tuple[Floats, Floats]:
    """Return the variance of the randomised block design, and what it has beside a pair's own."""
    _, stacks, blocks = means.shape
    residuals = means - means.mean(axis=1, keepdims=True) - means.mean(axis=2, keepdims=True)
    residuals += means.mean(axis=(1, 2), keepdims=True)
    design = 2 * (residuals**2).sum(axis=(1, 2)) / ((stacks - 1) * (blocks - 1))
    others = ((stacks - 1) * design - own) / (stacks - 2) if stacks > 2 else 0 * own
    return design, np.maximum(others, 0.0)


def _compute_moderated_reach(own: Floats, others: Floats, stacks: int, blocks: int) -> Floats:
    freedom = freedom_of(stacks, blocks - 1)
    moderated = ((blocks - 1) * own + (freedom - blocks + 1) * others) / freedom
    return _reach(moderated, freedom, blocks)


def _reach(variance: Floats, freedom: float, blocks: int) -> Floats:
    reach: Floats = stats.t.ppf(0.975, freedom) * np.sqrt(variance / blocks)
    return reach


def ms_intervals_of(logs: Floats, levels: Floats, stack: int) -> tuple[Floats, Floats, Floats]:
    """Return each study's mean difference in ms, three intervals of it, and that of the log gain.

    `logs`: studies x stacks x sites x repetitions, `levels`: each site's time. Intervals are ways x
    bounds x studies: of the two stacks alone,
    `eyelevel.analysis.stats.pooled.estimate_pooled_difference`, and the gain's times the mean of
    both stacks, which moves the difference only by its own error.
    """
    _, stacks, _, blocks = logs.shape
    times = levels[:, None] * np.exp(logs)
    differences = (times[:, stack] - times[:, 0]).mean(axis=1)
    value, own = differences.mean(axis=1), differences.var(axis=1, ddof=1)
    both = (times[:, stack] + times[:, 0]).mean(axis=2) / 2
    weighted = (logs * both[:, None, :, None]).mean(axis=2)
    of_pair = (weighted[:, stack] - weighted[:, 0]).var(axis=1, ddof=1)
    others = _errors_beside(weighted, of_pair)[1]
    reaches = np.array(
        [_reach(own, blocks - 1, blocks), _compute_moderated_reach(own, others, stacks, blocks)]
    )
    gain, (_, _, reach) = reaches_of(logs.mean(axis=2), stack)
    of_gain = np.array([gain - reach, gain + reach])
    scaled = 2 * both.mean(axis=1) * np.tanh(of_gain / 2)
    bounds = np.array([value - reaches, value + reaches]).swapaxes(0, 1)
    return value, np.concatenate([bounds, scaled[None]]), of_gain


@dataclass(frozen=True)
class Sites:
    """Sites of which the slowest takes `slowest` times the fastest's time.

    The slowest `without_gain` gain nothing where the others do.
    """

    scenario: Scenario
    slowest: float = 1.0
    without_gain: int = 0


MS_SCENARIOS = (
    Sites(Scenario("one site")),
    Sites(Scenario("four sites", sites=4)),
    Sites(Scenario("four sites, up to 3 times as slow", sites=4), 3.0),
    Sites(Scenario("four sites, up to 10 times as slow", sites=4), 10.0),
    Sites(Scenario("four, up to 3 times, the slowest gains nothing", sites=4), 3.0, 1),
    Sites(Scenario("ten, up to 10 times, shared", sites=10, shared=0.3), 10.0),
    Sites(Scenario("four, up to 10 times, two modes", "two modes", 4), 10.0),
    Sites(Scenario("four, up to 10 times, skewed", "skewed", 4), 10.0),
    Sites(Scenario("one site, the reference noisier", noisier=0)),
)


@dataclass(frozen=True)
class MsCell:
    """The results of the three methods: mean width over the first's, misses, and disagreements
    about zero.

    `agreed_misses` are those of the second way's intervals that a report shows.
    """

    widths: tuple[float, ...]
    misses: tuple[float, ...]
    disagree: tuple[float, ...]
    agreed_misses: float


def simulate_ms(
    sites: Sites, blocks: int, gain: float, studies: int, draw: np.random.Generator
) -> MsCell:
    """Return a cell of three stacks."""
    logs = logs_of(sites.scenario, STACKS[0], blocks, studies, draw)
    number = sites.scenario.sites
    logs[:, 1, : number - sites.without_gain] += np.log1p(gain)
    levels = 1000 * np.geomspace(1.0, sites.slowest, number)
    value, bounds, of_gain = ms_intervals_of(logs, levels, 1)
    truth = value.mean()  # the mean of so many studies; that of t3 has no other
    missed = (truth < bounds[:, 0]) | (truth > bounds[:, 1])
    excludes = np.sign(bounds[:, 0]) == np.sign(bounds[:, 1])
    disagree = excludes != (np.sign(of_gain[0]) == np.sign(of_gain[1]))
    widths = (bounds[:, 1] - bounds[:, 0]).mean(axis=1)
    shares = (each.mean(axis=1).tolist() for each in (missed, disagree))
    shown = missed[1] & ~disagree[1]
    return MsCell((widths / widths[0]).tolist(), *shares, float(shown.mean()))


MS_BLOCKS = (3, 5, 31)
MS_GAINS = (0.0, -0.08)


def print_ms(studies: int) -> None:
    """Print the table of differences in milliseconds."""
    ways = ("alone", "moderated", "gain x mean")
    heads = ["loads", "blocks", "gain", *(f"width: {way}" for way in ways[1:])]
    heads += [f"misses: {way}" for way in ways] + [f"disagree: {way}" for way in ways[:2]]
    print_head([*heads, "shown and misses"])
    draw = np.random.Generator(np.random.PCG64(SEED))
    for sites, blocks, gain in product(MS_SCENARIOS, MS_BLOCKS, MS_GAINS):
        cell = simulate_ms(sites, blocks, gain, studies, draw)
        cells = [f"{width:.2f}" for width in cell.widths[1:]]
        shares = (*cell.misses, *cell.disagree[:2], cell.agreed_misses)
        cells += [f"{share:.1%}" for share in shares]
        print(
            f"| {sites.scenario.name} | {blocks} | {gain:.0%} | {' | '.join(cells)} |", flush=True
        )


def main(quick: bool, in_ms: bool) -> None:
    """The table, in Markdown."""
    studies = STUDIES_QUICK if quick else STUDIES
    if in_ms:
        print_ms(studies)
        return
    heads = (
        "loads", "blocks", "stacks", "width: block design", "moderated", "misses: two stacks alone",
        "block design", "moderated",
    )  # fmt: skip
    print_head(heads)
    draw = np.random.Generator(np.random.PCG64(SEED))
    for scenario, blocks, stacks in product(SCENARIOS, BLOCKS, STACKS):
        cell = simulate(scenario, stacks, blocks, studies, draw)
        cells = [f"{width:.2f}" for width in cell.widths[1:]]
        cells += [f"{share:.1%}" for share in cell.misses]
        print(f"| {scenario.name} | {blocks} | {stacks} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main("--quick" in sys.argv[1:], "--ms" in sys.argv[1:])
