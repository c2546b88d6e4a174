"""Simulate a study's findings about unfinished loads: `python -m
benchmarks.statistics.lost_objects`.

Synthetic studies of ten sites in which a share of the loads of both stacks, or of one, does not
finish; a share of those shares comes as bad repetitions, which hit a stack on every site. Nothing
else differs. Printed for every cell: how often a comparison of a family has its numbers of
unfinished loads called different, of fixed repetitions (the gains' and these tests as one family by
Holm and Tarone) and at any look of a study that may stop; and of studies of equal stacks, how often
anything is claimed, gains included. `--prior` compares priors of the sequence. `--rules` compares
what a study of stacks that are as fast says if bursts of loss slow both and cost one of them an
object: that load left out, its values believed, or counted as not finished. Half a minute; nothing
is asserted.
"""

import sys
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.shared.markdown import print_head
from benchmarks.statistics.intervals import DISTURBANCE, SEED, SPREAD
from eyelevel.analysis.claims import verdict
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.gains.sequential import FAMILY_LEVEL, GAINS_LEVEL, TIMEOUTS_SHARE
from eyelevel.analysis.stats.censoring import sign_sequence_p, timeouts, up_to_limit
from eyelevel.analysis.stats.estimate import Floats, undetermined
from eyelevel.analysis.stats.families import holm_of_attainable
from eyelevel.analysis.stats.paired_gains import geometric_gain
from eyelevel.analysis.stats.sequential import Horizon, reach_in_errors

SITES = 10
LIMIT = 60.0
LOOK_FIRST = 6
SHARES = (
    (0.25, 0.0),
    (0.10, 0.0),
    (0.25, 0.05),
    (0.0, 0.0),
    (0.01, 0.01),
    (0.10, 0.10),
    (0.25, 0.25),
)
FAMILIES = (1, 2, 4)
REPETITIONS = (6, 10, 20, 31)
BAD_REPETITIONS = 0.5
"""The part of unfinished loads that comes as whole repetitions of a stack."""
STUDIES, STUDIES_QUICK = 500, 50
BURSTS = 0.1
"""The part of loads of either stack that meet a burst of loss."""
BURST_SLOWS = 1.5
WITHOUT_OBJECT = 0.7
"""The Speed Index of a page without its largest image, as a share of a complete load's."""
WORSE = ("slower", "fewer loads finished")
RULES = ("left out", "believed", "not finished")
PRIORS = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Cell:
    """Shares of comparisons whose numbers differ, and of studies that claim anything."""

    fixed: float
    sequential: float
    claims_fixed: float
    claims_sequential: float


def simulate(
    shares: tuple[float, float],
    family: int,
    repetitions: int,
    studies: int,
    draw: np.random.Generator,
    bad: float = 0.0,
) -> Cell:
    """Return one cell; all comparisons of the family are alike."""
    rows = []
    for _ in range(studies):
        pairs = [
            tuple(loads(share, repetitions, draw, bad) for share in shares) for _ in range(family)
        ]
        rows.append((*_test_fixed_blocks(pairs), *_test_sequence(pairs)))
    fixed, claims_fixed, sequential, claims_sequential = np.array(rows, dtype=float).T
    means = (fixed, sequential, claims_fixed, claims_sequential)
    return Cell(*(float(each.mean()) for each in means))


def loads(share: float, repetitions: int, draw: np.random.Generator, bad: float) -> Floats:
    """Return one stack's times, sites x repetitions; infinite for what does not finish."""
    size = (SITES, repetitions)
    shared = DISTURBANCE * draw.standard_normal((1, repetitions))
    times = np.exp(SPREAD * (draw.standard_normal(size) + shared))
    lost = draw.random(size) < share * (1 - bad)
    lost |= draw.random((1, repetitions)) < share * bad
    return np.where(lost, np.inf, times)


def _test_fixed_blocks(pairs: list[tuple[Floats, ...]]) -> tuple[float, bool]:
    limits = np.full(SITES, LIMIT)
    late = [timeouts(*pair, limits) for pair in pairs]
    gains = [
        None if counts.too_many else geometric_gain(*(up_to_limit(each, limits) for each in pair)).p
        for pair, counts in zip(pairs, late, strict=True)
    ]
    tests = [(p, 0.0) for p in gains] + [(each.p, each.p_least or 1.0) for each in late]
    adjusted, _ = holm_of_attainable(tests, FAMILY_LEVEL)
    claimed = [p is not None and p <= FAMILY_LEVEL for p in adjusted]
    return float(np.mean(claimed[len(pairs) :])), any(claimed)


def _test_sequence(pairs: list[tuple[Floats, ...]]) -> tuple[float, bool]:
    family, differ, claims = len(pairs), [], False
    horizon = Horizon(LOOK_FIRST, pairs[0][0].shape[1])
    for x, r in pairs:
        more = np.isinf(x).sum(axis=0) - np.isinf(r).sum(axis=0)
        logs = np.log(np.minimum(x, LIMIT)) - np.log(np.minimum(r, LIMIT))
        found = False
        for n in range(LOOK_FIRST, x.shape[1] + 1):
            p = sign_sequence_p(int((more[:n] > 0).sum()), int((more[:n] < 0).sum()))
            found |= p <= TIMEOUTS_SHARE * FAMILY_LEVEL / family
            values = logs[:, :n].mean(axis=0)
            error = values.std(ddof=1) / np.sqrt(n)
            reach = reach_in_errors(n, GAINS_LEVEL / family, horizon)
            claims |= abs(values.mean()) > reach * error
        differ.append(found)
    return float(np.mean(differ)), claims or any(differ)


@dataclass(frozen=True)
class Said:
    """Results of studies in which one stack's loads lose an object.

    The mean gain of that stack (negative: faster), and the shares of studies that call it faster,
    and slower or finishing fewer loads.
    """

    gain: float
    faster: float
    worse: float


def say_by_rule(rule: str, repetitions: int, studies: int, draw: np.random.Generator) -> Said:
    """Return what studies of one comparison say if a load without an object is taken like this."""
    limits, rows = np.full(SITES, LIMIT), []
    for _ in range(studies):
        x, r = (loads(0.0, repetitions, draw, 0.0) for _ in range(2))
        burst, burst_reference = (draw.random(x.shape) < BURSTS for _ in range(2))
        r = np.where(burst_reference, BURST_SLOWS * r, r)
        lost = {"left out": np.nan, "not finished": np.inf}.get(rule, WITHOUT_OBJECT * x)
        x = np.where(burst, lost, x)
        late = timeouts(x, r, limits)
        gain = geometric_gain(*(up_to_limit(each, limits) for each in (x, r)))
        tests = [(gain.p, 0.0), (late.p, late.p_least or 1.0)]
        (p, p_late), _ = holm_of_attainable(tests, FAMILY_LEVEL)
        typical = undetermined("", repetitions, gain.value)
        of = ("lossy", "losing", "reference", "speed_index_ms")
        found = NetworkGain(*of, gain, p, typical, timeouts=late, p_timeouts_holm=p_late)
        finding = verdict(found, smallest_effect=0.05)
        rows.append((gain.value, finding == "faster", finding in WORSE))
    return Said(*(float(each) for each in np.array(rows, dtype=float).mean(axis=0)))


def print_rules(studies: int) -> None:
    """Print what each rule makes of 31 repetitions of equally fast stacks."""
    print_head(("a load without its object", "gain", "called faster", "slower, or fewer finished"))
    draw = np.random.Generator(np.random.PCG64(SEED))
    for rule in RULES:
        said = say_by_rule(rule, REPETITIONS[-1], studies, draw)
        print(f"| {rule} | {said.gain:+.1%} | {said.faster:.1%} | {said.worse:.1%} |")


def print_priors() -> None:
    """Print how many repetitions that all point one way each prior needs, and with one against."""
    print_head(("prior", "p = 0.005 after", "with one against it"))
    for prior in PRIORS:
        needed = [
            next(n for n in range(1, 100) if sign_sequence_p(n - k, k, prior) <= 0.005)
            for k in (0, 1)
        ]
        print(f"| {prior:g} | {needed[0]} | {needed[1]} |")


def main(quick: bool) -> None:
    """The table, in Markdown."""
    heads = (
        "unfinished", "comparisons", "repetitions", "differ, fixed", "differ, may stop",
        "any claim, fixed", "any claim, may stop",
    )  # fmt: skip
    print_head(heads)
    draw = np.random.Generator(np.random.PCG64(SEED))
    for shares, family, repetitions in product(SHARES, FAMILIES, REPETITIONS):
        studies = STUDIES_QUICK if quick else STUDIES
        equal = shares[0] == shares[1]
        bad = BAD_REPETITIONS if equal else 0.0
        cell = simulate(shares, family, repetitions, studies, draw, bad)
        claims = (cell.claims_fixed, cell.claims_sequential) if equal else (None, None)
        said = [
            "" if each is None else f"{each:.1%}" for each in (cell.fixed, cell.sequential, *claims)
        ]
        name = f"{shares[0]:.0%} and {shares[1]:.0%}"
        print(f"| {' | '.join((name, str(family), str(repetitions), *said))} |", flush=True)


if __name__ == "__main__":
    if "--prior" in sys.argv[1:]:
        print_priors()
    elif "--rules" in sys.argv[1:]:
        print_rules(STUDIES)
    else:
        main("--quick" in sys.argv[1:])
