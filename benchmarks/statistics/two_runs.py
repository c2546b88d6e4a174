"""Simulate what two runs can show of each other: `python -m benchmarks.statistics.two_runs
[--quick]`.

Synthetic runs of 31 blocks: two networks, three stacks and the one that they are compared with, so
six comparisons. A load's time is its site's, times exp(spread z); what disturbs one stack
throughout a repetition has 0.3 of that spread, on all of its sites. A run's level moves by a factor
of its own, the same for all loads of the run; a stack's own level may move, too, by run.

First `eyelevel compare` with a limit of 5 %, by three rules: each stack's times against its times
in the other run, failed where shown and beyond the limit, as it once was; the same by intervals;
and the report's, the gain within each run against the other's. Then `eyelevel rerun`, whose
smallest effect of interest is 5 %, by how one gain truly changed; *not slower* is how often the
stack's times passed, as `rerun` once was. Half a minute; nothing is asserted.
"""

import sys
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import special

from benchmarks.shared.command import parser_of
from benchmarks.statistics.intervals import DISTURBANCE, SEED
from eyelevel.analysis.gate import family_confidence
from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

NETWORKS, COMPARED, BLOCKS = 2, 3, 31
LIMIT = 0.05
STUDIES, STUDIES_QUICK, STUDIES_AT_ONCE = 4000, 200, 100
PAGES = ((1, 0.1), (10, 0.1), (10, 0.03))
"""Sites, and the spread of a load."""


@dataclass(frozen=True)
class Scenario:
    """The changes from run to run, as standard deviations of the logarithm."""

    level: float
    own: float = 0.0
    change: float = 0.0
    """The true change of the first stack's gain, as a share."""


@dataclass(frozen=True)
class Change:
    """Estimates of one quantity: studies x comparisons, on the logarithm's scale."""

    value: Floats
    error: Floats
    freedom: Floats

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the ends of the family's intervals."""
        share = 0.5 + family_confidence(NETWORKS * COMPARED) / 2
        reach = special.stdtrit(self.freedom, share) * self.error
        return np.expm1(self.value - reach), np.expm1(self.value + reach)

    def shown(self) -> Bools:
        """Return where the p value after Holm's correction is at most 0.05."""
        p = 2 * special.stdtr(self.freedom, -np.abs(self.value) / self.error)
        order = np.argsort(p, axis=1)
        steps = np.take_along_axis(p, order, axis=1) * np.arange(p.shape[1], 0, -1)
        adjusted = np.empty_like(p)
        np.put_along_axis(adjusted, order, np.maximum.accumulate(steps, axis=1), axis=1)
        return adjusted <= SIGNIFICANCE_LEVEL


@dataclass(frozen=True)
class Studies:
    """The changes of the stacks' own times, and those of their gains."""

    times: Change
    gains: Change


def simulate(
    scenario: Scenario, sites: int, spread: float, studies: int, draw: np.random.Generator
) -> Studies:
    """`studies` is a multiple of STUDIES_AT_ONCE."""
    parts = [
        _estimated(loads(scenario, sites, spread, STUDIES_AT_ONCE, draw))
        for _ in range(studies // STUDIES_AT_ONCE)
    ]
    times, gains = (
        Change(
            *(np.concatenate(each) for each in zip(*(part[kind] for part in parts), strict=True))
        )
        for kind in (0, 1)
    )
    return Studies(times, gains)


def loads(
    scenario: Scenario, sites: int, spread: float, studies: int, draw: np.random.Generator
) -> Floats:
    """Logarithms: studies x runs x networks x stacks x sites x blocks; the last stack is common."""
    stacks = COMPARED + 1
    logs = spread * draw.standard_normal((studies, 2, NETWORKS, stacks, sites, BLOCKS))
    disturbed = (studies, 2, NETWORKS, stacks, 1, BLOCKS)
    logs += DISTURBANCE * spread * draw.standard_normal(disturbed)
    logs += scenario.level * draw.standard_normal((studies, 2, 1, 1, 1, 1))
    logs += scenario.own * draw.standard_normal((studies, 2, 1, stacks, 1, 1))
    logs[:, 1, :, 0] += np.log1p(scenario.change)
    return logs


def changes(logs: Floats) -> Change:
    """Return the changes of repetitions' means between the runs: Welch's t
    (`eyelevel.analysis.stats.gain_change`)."""
    means = logs.mean(axis=4)
    return _between(means.mean(axis=-1), means.var(axis=-1, ddof=1) / BLOCKS, BLOCKS - 1.0)


def own_changes(logs: Floats) -> Change:
    """Return the changes with the sites' errors added in squares, the way times of two runs were
    once compared."""
    variances = logs.var(axis=-1, ddof=1) / BLOCKS
    total = variances.sum(axis=-1)
    freedom = total**2 / (variances**2 / (BLOCKS - 1)).sum(axis=-1)
    return _between(logs.mean(axis=(4, 5)), total / logs.shape[4] ** 2, freedom)


def _between(means: Floats, variances: Floats, freedoms: Floats | float) -> Change:
    total = variances.sum(axis=1)
    freedom = total**2 / (variances**2 / freedoms).sum(axis=1)
    flat = (len(means), -1)
    value = means[:, 1] - means[:, 0]
    return Change(value.reshape(flat), np.sqrt(total).reshape(flat), freedom.reshape(flat))


def _estimated(logs: Floats) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
    compared = logs[:, :, :, :COMPARED]
    found = own_changes(compared), changes(compared - logs[:, :, :, COMPARED:])
    times, gains = ((each.value, each.error, each.freedom) for each in found)
    return times, gains


def failed_as_it_was(times: Change) -> Bools:
    """Return where `compare` once failed: slower by the limit at least, and shown."""
    return (times.value >= np.log1p(LIMIT)) & times.shown()


def print_compare(studies: int, draw: np.random.Generator) -> None:
    """The families of six in which anything fails, and what becomes of the gains' families."""
    print(
        "| level, own level | truth | sites, spread | as it was: failed | times: failed |", end=""
    )
    print(" gains: failed | passed | inconclusive |\n| --- | --- | --- |" + " ---: |" * 5)
    scenarios = (
        *(Scenario(level) for level in (0.0, 0.03, 0.05)),
        *(Scenario(0.03, own) for own in (0.01, 0.02, 0.03)),
        Scenario(0.03, change=2 * LIMIT),
    )
    for scenario, (sites, spread) in product(scenarios, PAGES):
        found = simulate(scenario, sites, spread, studies, draw)
        low, high = found.gains.bounds()
        failed, passed = (low > LIMIT).any(axis=1), (high < LIMIT).all(axis=1)
        shares = (
            failed_as_it_was(found.times).any(axis=1),
            (found.times.bounds()[0] > LIMIT).any(axis=1),
            failed,
            passed,
            ~(failed | passed),
        )
        print(_row(scenario, sites, spread, shares), flush=True)


def print_rerun(studies: int, draw: np.random.Generator) -> None:
    """Print the verdicts on the first stack's gain on the first network, which is one of six."""
    print("| level, own level | truth | sites, spread | not slower | agrees | disagrees |", end="")
    print(" cannot tell |\n| --- | --- | --- |" + " ---: |" * 4)
    scenarios = (
        *(Scenario(0.03, change=share * LIMIT) for share in (0, 1, 2, -2)),
        *(Scenario(0.03, own) for own in (0.01, 0.03)),
        *(Scenario(0.03, own, change=2 * LIMIT) for own in (0.01, 0.03)),
    )
    for scenario, (sites, spread) in product(scenarios, PAGES):
        found = simulate(scenario, sites, spread, studies, draw)
        low, high = (bound[:, 0] for bound in found.gains.bounds())
        agrees, disagrees = (low > -LIMIT) & (high < LIMIT), (low > LIMIT) | (high < -LIMIT)
        not_slower = ~failed_as_it_was(found.times)[:, 0]
        shares = (not_slower, agrees, disagrees, ~(agrees | disagrees))
        print(_row(scenario, sites, spread, shares), flush=True)


def _row(scenario: Scenario, sites: int, spread: float, shares: tuple[Bools, ...]) -> str:
    cells = (
        f"{scenario.level:.0%}, {scenario.own:.0%}",
        f"{scenario.change:+.0%}" if scenario.change else "equal",
        f"{sites}, {spread:.0%}",
        *(f"{each.mean():.1%}" for each in shares),
    )
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Two tables in Markdown."""
    parser = parser_of(__doc__)
    parser.add_argument("--quick", action="store_true", help="few studies, to see that it runs")
    studies = STUDIES_QUICK if parser.parse_args().quick else STUDIES
    draw = np.random.Generator(np.random.PCG64(SEED))
    print_compare(studies, draw)
    print()
    print_rerun(studies, draw)
    return 0


if __name__ == "__main__":
    sys.exit(main())
