"""Simulate how often a gain's 95 % interval misses: `python -m benchmarks.statistics.intervals
[--quick]`.

Synthetic studies of two stacks. A load's time is its site's, times exp(0.1 z); what disturbs one
stack throughout a repetition has 0.3 of that spread, on all of its sites. To that come tails (a
share of the loads that take so many times as long), in both stacks or in the reference alone,
blocks that are lost, and timeouts (one in 1000 loads takes 60 times as long, and counts as that).

Printed for every cell, misses of: the t interval of sites' ratios of means with errors added in
squares, as the report once had it; Student's t over repetitions' means of log ratios, which it has
now; a percentile bootstrap of these means; the order statistics of repetitions' medians (of no
difference, so that with a tail in one stack it is how often the median sees the tail). Then the
widths of three of them over Student's of the repetitions' plain means, and how often the report's
interval excludes no difference, before and after the rule that the mean and the median must have
one sign: false claims but where a tail is in one stack. A minute or two; nothing is asserted.
"""

import sys
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.shared.markdown import print_head

Floats = NDArray[np.float64]

SITES = (1, 2, 10, 38)
REPETITIONS = (5, 10, 31)
SPREAD, DISTURBANCE = 0.1, 0.3
STUDIES, STUDIES_QUICK, STUDIES_AT_ONCE = 4000, 400, 200
RESAMPLES = 399
SEED = 15


@dataclass(frozen=True)
class Scenario:
    """The addition to the noise: `share` of the loads take `times` as long."""

    name: str
    share: float = 0.0
    times: float = 1.0
    both: bool = True
    disturbance: float = DISTURBANCE
    lost: float = 0.0

    @property
    def truth(self) -> float:
        """The true geometric mean's log ratio; the median's is 0."""
        return 0.0 if self.both else -self.share * float(np.log(self.times))


SCENARIOS = (
    Scenario("independent sites", disturbance=0.0),
    Scenario("no tail"),
    Scenario("5 % of blocks lost", lost=0.05),
    Scenario("10 % x 2 in both", 0.10, 2),
    Scenario("3 % x 4 in both", 0.03, 4),
    Scenario("timeouts in both", 0.001, 60),
    Scenario("10 % x 2 in one", 0.10, 2, both=False),
    Scenario("3 % x 4 in one", 0.03, 4, both=False),
    Scenario("timeouts in one", 0.001, 60, both=False),
)


@dataclass(frozen=True)
class Cell:
    """Shares of studies, and mean widths as multiples of Student's."""

    scenario: Scenario
    sites: int
    repetitions: int
    old_misses: float
    misses: float
    bootstrap_misses: float
    median_misses: float | None
    old_width: float
    width: float
    median_width: float | None
    claims: float
    claims_agreed: float


@np.errstate(divide="ignore", invalid="ignore")
def simulate(
    scenario: Scenario, sites: int, repetitions: int, studies: int, draw: np.random.Generator
) -> Cell:
    """One cell; `studies` is a multiple of STUDIES_AT_ONCE."""
    parts = [
        _answers(scenario, _loads(scenario, (STUDIES_AT_ONCE, sites, repetitions), draw), draw)
        for _ in range(studies // STUDIES_AT_ONCE)
    ]
    found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    # A site that has but one block left has no answer at all.
    answered = np.isfinite(found["width"])
    found = {name: values[answered] for name, values in found.items()}
    plain = found["plain_width"].mean()
    there = bool(np.isfinite(found["median_width"]).all())
    return Cell(
        scenario, sites, repetitions,
        old_misses=float(found["old"].mean()),
        misses=float(found["student"].mean()),
        bootstrap_misses=float(found["bootstrap"].mean()),
        median_misses=float(found["median"].mean()) if there else None,
        old_width=float(found["old_width"].mean() / plain),
        width=float(found["width"].mean() / plain),
        median_width=float(found["median_width"].mean() / plain) if there else None,
        claims=float(found["claim"].mean()),
        claims_agreed=float(found["agreed"].mean()),
    )  # fmt: skip


def _loads(
    scenario: Scenario, shape: tuple[int, int, int], draw: np.random.Generator
) -> tuple[Floats, Floats]:
    """Log times of the stack and its reference, studies x sites x repetitions; NaN if lost."""
    studies, _, repetitions = shape
    lost = draw.random(shape) < scenario.lost
    lost[:, 0] = False  # every repetition has a block, so that each candidate has its value
    both = []
    for slow in (scenario.both, True):
        shared = scenario.disturbance * draw.standard_normal((studies, 1, repetitions))
        logs = SPREAD * (draw.standard_normal(shape) + shared)
        if slow and scenario.share:
            logs += np.log(scenario.times) * (draw.random(shape) < scenario.share)
        both.append(np.where(lost, np.nan, logs))
    return both[0], both[1]


def _answers(
    scenario: Scenario, logs: tuple[Floats, Floats], draw: np.random.Generator
) -> dict[str, Floats]:
    """Return by candidate and study whether its interval misses, and the widths on the log
    scale."""
    difference = logs[0] - logs[1]
    value, error, freedom = over_repetitions(difference)
    reach = stats.t.ppf(0.975, freedom) * error
    low, high = value - reach, value + reach
    claim = (low > 0) | (high < 0)
    old_low, old_high = _sites_apart(*(np.exp(each) for each in logs))
    medians = np.sort(np.nanmedian(difference, axis=1), axis=1)
    count = medians.shape[1]
    rank = int(stats.binom.ppf(0.025, count, 0.5))
    middle = np.median(medians, axis=1)
    bounds = (medians[:, rank - 1], medians[:, -rank]) if rank else (-np.inf, middle)
    means = np.nanmean(difference, axis=1)
    mean_low, mean_high = _bootstrap(means, draw)
    plain = means.std(axis=1, ddof=1) / np.sqrt(count)
    truth = scenario.truth
    return {
        "old": (old_low > np.expm1(truth)) | (old_high < np.expm1(truth)),
        "student": (low > truth) | (high < truth),
        "bootstrap": (mean_low > truth) | (mean_high < truth),
        "median": (bounds[0] > 0) | (bounds[1] < 0),
        "old_width": np.log1p(old_high) - np.log(np.maximum(1 + old_low, 1e-3)),
        "plain_width": 2 * stats.t.ppf(0.975, count - 1) * plain,
        "width": high - low,
        "median_width": bounds[1] - bounds[0],
        "claim": claim,
        "agreed": claim & (value * middle > 0),
    }


def over_repetitions(difference: Floats) -> tuple[Floats, Floats, Floats]:
    """`eyelevel.analysis.stats.paired_gains.mean_over_repetitions` of many studies at once."""
    there = ~np.isnan(difference)
    blocks = there.sum(axis=2)
    means = np.nansum(difference, axis=2) / blocks
    weighted = (difference - means[..., None]) / np.sqrt(blocks * (blocks - 1.0))[..., None]
    error = np.sqrt((np.nansum(weighted, axis=1) ** 2).sum(axis=1)) / difference.shape[1]
    variances = np.nansum(weighted**2, axis=2)
    freedom = variances.sum(axis=1) ** 2 / (variances**2 / (blocks - 1)).sum(axis=1)
    return means.mean(axis=1), error, np.minimum(freedom, difference.shape[2] - 1)


def _sites_apart(x: Floats, r: Floats) -> tuple[Floats, Floats]:
    """Return each site's ratio of means with its t interval's error, and their mean over sites."""
    blocks = (~np.isnan(x)).sum(axis=2)
    reference = np.nanmean(r, axis=2)
    ratio = np.nanmean(x, axis=2) / reference
    spread = np.nanvar(x - ratio[..., None] * r, axis=2, ddof=1)
    square = spread / blocks / reference**2
    total = square.sum(axis=1)
    freedom = total**2 / (square**2 / (blocks - 1)).sum(axis=1)
    reach = stats.t.ppf(0.975, freedom) * np.sqrt(total) / x.shape[1]
    gain = ratio.mean(axis=1) - 1
    return gain - reach, gain + reach


def _bootstrap(means: Floats, draw: np.random.Generator) -> tuple[Floats, Floats]:
    """The percentile interval, by the same resamples of repetitions for all studies of a part."""
    count = means.shape[1]
    weights = draw.multinomial(count, np.full(count, 1 / count), RESAMPLES) / count
    low, high = np.quantile(means @ weights.T, (0.025, 0.975), axis=1)
    return low, high


def main(quick: bool) -> None:
    """The table, in Markdown."""
    heads = (
        "scenario", "sites", "repetitions", "ratio of means", "Student's t", "bootstrap", "median",
        "its width", "Student's", "the median's", "claims", "with one sign",
    )  # fmt: skip
    print_head(heads)
    draw = np.random.Generator(np.random.PCG64(SEED))
    studies = STUDIES_QUICK if quick else STUDIES
    for scenario, sites, repetitions in product(SCENARIOS, SITES, REPETITIONS):
        cell = simulate(scenario, sites, repetitions, studies, draw)
        shares = [
            "none" if share is None else f"{share:.1%}"
            for share in (
                cell.old_misses, cell.misses, cell.bootstrap_misses, cell.median_misses
            )
        ]  # fmt: skip
        widths = [
            "none" if width is None else f"{width:.2f}"
            for width in (cell.old_width, cell.width, cell.median_width)
        ]
        claims = [f"{share:.1%}" for share in (cell.claims, cell.claims_agreed)]
        first = (cell.scenario.name, str(cell.sites), str(cell.repetitions))
        print(f"| {' | '.join((*first, *shares, *widths, *claims))} |", flush=True)


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
