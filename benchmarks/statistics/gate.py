"""Simulate how often a gate passes: `python -m benchmarks.statistics.gate`.

Synthetic loads: the logarithm is normal with standard deviation `sd`; a stack's repetition has a
disturbance of `shared` of that, which all its sites share; of `modes` half of all loads take so
many times as long. First the gates of `p50 worse by 5 %` and of the gain (`worse by 5 %`) by true
regression; then what the intervals miss; then, with the blocks that `eyelevel plan estimate` names,
how often a family passes without any regression (asked: 90 %), and with one of twice the limit
(asked: at most 5 %). Last, the gate of the gain in studies that may stop early, by the rule of
`ask`, one family of `comparisons` networks: the share of gates that pass, fail and are
inconclusive, and the share of families with a wrong answer (asked: at most 5 %). Nothing is
asserted.
"""

import math
import sys
from collections import Counter
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from benchmarks.shared.command import rounds
from benchmarks.statistics.sequential import ask_rule
from eyelevel.analysis.gate import decide, family_confidence
from eyelevel.analysis.stats.estimate import Estimate, Floats
from eyelevel.analysis.stats.quantile import DECIDING_POWER
from eyelevel.analysis.stats.quantile_gain import (
    blocks_to_decide,
    blocks_to_part,
    compute_bounded_gain,
    one_block_error,
    one_block_error_at_most,
    quantile_gain,
)
from eyelevel.analysis.stats.stopping_rule import run_studies
from eyelevel.plan.file.change import BLOCKS_MIN
from eyelevel.run.study.estimate import gain_below

STUDIES = 400
PILOT_BLOCKS = 31


@dataclass(frozen=True)
class Loads:
    """The scatter of loads from which simulated studies draw."""

    sd: float
    sites: int = 1
    shared: float = 0.0
    tail: float = 0.0
    """The share of both stacks' loads that take twice as long."""
    modes: float = 1.0
    """How many times as long half of both stacks' loads take."""

    def draw(self, blocks: int, slower: float, draw: np.random.Generator) -> Floats:
        """Return sites x blocks of a stack whose loads take 1 + `slower` of the reference's."""
        noise = draw.standard_normal((self.sites, blocks))
        noise += self.shared * draw.standard_normal(blocks)
        late = draw.random((self.sites, blocks)) < self.tail
        of_mode = np.where(draw.random((self.sites, blocks)) < 0.5, self.modes, 1.0)
        return (1 + slower) * np.exp(self.sd * noise) * np.where(late, 2.0, 1.0) * of_mode

    def gain(
        self,
        blocks: int,
        slower: float,
        share: float | None,
        confidence: float,
        draw: np.random.Generator,
    ) -> Estimate:
        """Return the gain of one comparison, of a percentile or (None) of pairs."""
        values, reference = (self.draw(blocks, each, draw) for each in (slower, 0.0))
        if share is None:
            return compute_bounded_gain((values, reference, [math.inf] * self.sites), confidence)[0]
        return quantile_gain(values, reference, share, confidence)


def statuses(
    loads: Loads,
    blocks: int,
    slower: float,
    limit: float,
    studies: int,
    share: float | None = 0.5,
    seed: int = 1,
) -> Counter[str]:
    """Count how a gate of a percentile, or of the gain, ends in this many studies."""
    draw = np.random.Generator(np.random.PCG64(seed))
    gains = (loads.gain(blocks, slower, share, 0.95, draw) for _ in range(studies))
    return Counter(decide(gain, limit) for gain in gains)


def missed(
    loads: Loads, blocks: int, share: float | None, confidence: float, studies: int, seed: int = 1
) -> float:
    """The share of intervals that do not hold the truth, of equal stacks."""
    draw = np.random.Generator(np.random.PCG64(seed))
    gains = [loads.gain(blocks, 0.0, share, confidence, draw) for _ in range(studies)]
    return float(np.mean([decide(gain, 0.0) != "inconclusive" for gain in gains]))


def blocks_named(
    loads: Loads, share: float | None, limit: float, family: int, pilot: np.random.Generator | None
) -> int | None:
    """Return the blocks that `eyelevel plan estimate --fail-if` names, with `--like` if there is a
    pilot."""
    error = loads.sd * math.sqrt(2 / loads.sites)
    if share is not None:
        error = one_block_error(error, share)
    if pilot is not None:
        seen = loads.gain(PILOT_BLOCKS, 0.0, share, 0.95, pilot)
        error = one_block_error_at_most(seen) or error
    power = 1 - (1 - DECIDING_POWER) / family
    confidence = family_confidence(family)
    if share is None:
        return blocks_to_part(error, math.log1p(limit), confidence, power)
    return blocks_to_decide(error, math.log1p(limit), share, confidence, power)


def families_passed(
    loads: Loads,
    share: float | None,
    limit: float,
    family: int,
    like: bool,
    slower: float,
    studies: int,
) -> tuple[float, float]:
    """Mean blocks named, and the share of families that pass: their first member is slower."""
    draw = np.random.Generator(np.random.PCG64(1))
    confidence, named, passed = family_confidence(family), [], 0
    for _ in range(studies):
        blocks = blocks_named(loads, share, limit, family, draw if like else None)
        assert blocks is not None
        named.append(blocks)
        # Without a false pass of the first there is none: the others need not be drawn.
        members = [slower] if slower else [0.0] * family
        gains = (loads.gain(blocks, each, share, confidence, draw) for each in members)
        passed += all(decide(gain, limit) == "passed" for gain in gains)
    return float(np.mean(named)), passed / studies


@dataclass(frozen=True)
class Stopped:
    """Gates of the gain in studies that may stop early; `wrong` is of families."""

    passed: float
    failed: float
    inconclusive: float
    wrong: float
    blocks: float


def stopped(
    sd: float, slower: float, limit: float, comparisons: int, studies: int, seed: int = 1
) -> Stopped:
    """Simulate how the gate `worse by limit` ends where `ask` stops, on this many networks."""
    draw = np.random.Generator(np.random.PCG64(seed))
    rule, truth = ask_rule(comparisons), math.log1p(slower)
    rows = truth + sd * draw.standard_normal((studies * comparisons, rule.horizon.last))
    found = run_studies(rule, rows, BLOCKS_MIN, truth)
    level, distance = 1 - family_confidence(comparisons), math.log1p(limit)
    passed = gain_below(found, rule, distance, level)
    turned = replace(found, low=-found.high, high=-found.low)
    failed = gain_below(turned, rule, -distance, level)
    wrong = (passed if slower >= limit else failed).reshape(studies, comparisons).any(axis=1)
    shares = (float(each.mean()) for each in (passed, failed, ~(passed | failed), wrong))
    return Stopped(*shares, float(np.median(found.blocks)))


def main(studies: int) -> int:
    """Four tables in Markdown."""
    print("| gate | blocks, sd | truth | passed | failed | inconclusive |")
    print("| --- | --- | --- | --- | --- | --- |")
    for share, sd, blocks, slower in product(
        (0.5, None), (0.1, 0.3), (10, 31), (0.0, 0.05, 0.1, 0.2, 0.4)
    ):
        found = statuses(Loads(sd), blocks, slower, 0.05, studies, share)
        cells = (f"{found[each] / studies:.0%}" for each in ("passed", "failed", "inconclusive"))
        case = f"{_named(share)} | {blocks}, {sd:.0%} | {slower:+.0%}"
        print(f"| {case} | {' | '.join(cells)} |", flush=True)
    print("\n| gate, blocks | sites | loads | 95 % misses | 99.2 % misses |")
    print("| --- | --- | --- | --- | --- |")
    loads_by_name = {
        "1 | normal": Loads(0.2),
        "1 | 10 % take twice as long": Loads(0.2, tail=0.1),
        "1 | two equal modes, 1 and 1.5": Loads(0.05, modes=1.5),
        "4 | shared 0.3": Loads(0.2, 4, 0.3),
    }
    of_gates = ((0.5, 6), (0.5, 10), (0.5, 31), (0.75, 8), (0.75, 31), (0.95, 40))
    for gate, blocks in (*of_gates, (None, 3), (None, 6), (None, 10), (None, 31)):
        for name, loads in loads_by_name.items():
            cells = (f"{missed(loads, blocks, gate, c, studies):.1%}" for c in (0.95, 1 - 0.05 / 6))
            print(f"| {_named(gate)}, {blocks} | {name} | {' | '.join(cells)} |", flush=True)
    print("\n| gate, limit, family | loads | by | blocks | equal pass | twice the limit |")
    print("| --- | --- | --- | --- | --- | --- |")
    of_families = ((0.5, 0.05, 1), (0.5, 0.1, 1), (0.5, 0.1, 4), (0.75, 0.1, 1))
    gains = ((None, 0.05, 1), (None, 0.1, 1), (None, 0.1, 4))
    for asked, limit, family in (*of_families, *gains):
        for name, loads, like in (
            ("sd 10 %, 1 site", Loads(0.1), False),
            ("sd 10 %, 1 site", Loads(0.1), True),
            ("sd 20 %, 4 sites, shared 0.3", Loads(0.2, 4, 0.3), True),
        ):
            by = f"`--like`, {PILOT_BLOCKS} blocks" if like else "true scatter"
            rates = [
                families_passed(loads, asked, limit, family, like, slower, studies)
                for slower in (0.0, 2 * limit)
            ]
            case = f"{_named(asked)}, {limit:.0%}, {family}"
            passes = " | ".join(f"{rate:.1%}" for _, rate in rates)
            print(f"| {case} | {name} | {by} | {rates[0][0]:.0f} | {passes} |", flush=True)
    print(
        "\n| limit | block sd | comparisons | truth | passed | failed | inconclusive | wrong "
        "| blocks |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for limit, sd, comparisons, slower in product(
        (0.05, 0.1), (0.05, 0.1), (1, 4), (-0.05, 0.0, 0.05, 0.1, 0.15)
    ):
        ended = stopped(sd, slower, limit, comparisons, 10 * studies)
        cells = (
            f"{each:.1%}" for each in (ended.passed, ended.failed, ended.inconclusive, ended.wrong)
        )
        case = f"{limit:.0%} | {sd:.0%} | {comparisons} | {slower:+.0%}"
        print(f"| {case} | {' | '.join(cells)} | {ended.blocks:.0f} |", flush=True)
    return 0


def _named(share: float | None) -> str:
    return "gain" if share is None else f"p{share * 100:g}"


if __name__ == "__main__":
    sys.exit(main(rounds(__doc__, STUDIES)))
