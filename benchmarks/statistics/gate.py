"""How often a gate passes, by simulation: `python -m benchmarks.statistics.gate`.

Made-up loads: the logarithm is normal with standard deviation `sd`; a stack's repetition has a
disturbance of `shared` of that, which all its sites share. First the gate of `p50 worse by 5 %` by
true regression; then what the interval misses; then, with the blocks that `eyelevel plan estimate`
names, how often a family passes without any regression (asked: 90 %), and with one of twice the
limit (asked: at most 5 %). Nothing is asserted.
"""

import math
import sys
from collections import Counter
from dataclasses import dataclass

import numpy as np

from benchmarks.shared.command import rounds
from eyelevel.analysis.gate import decide, family_confidence
from eyelevel.stats.estimate import Estimate, Floats
from eyelevel.stats.quantile import DECIDING_POWER
from eyelevel.stats.quantile_gain import (
    blocks_to_decide,
    one_block_error,
    one_block_error_at_most,
    quantile_gain,
)

STUDIES = 400
PILOT_BLOCKS = 31


@dataclass(frozen=True)
class Loads:
    """How loads scatter: what a simulated study draws from."""

    sd: float
    sites: int = 1
    shared: float = 0.0
    tail: float = 0.0
    """The share of both stacks' loads that take twice as long."""

    def draw(self, blocks: int, slower: float, draw: np.random.Generator) -> Floats:
        """Sites x blocks of a stack whose loads take 1 + `slower` of the reference's."""
        noise = draw.standard_normal((self.sites, blocks))
        noise += self.shared * draw.standard_normal(blocks)
        late = draw.random((self.sites, blocks)) < self.tail
        return (1 + slower) * np.exp(self.sd * noise) * np.where(late, 2.0, 1.0)

    def gain(
        self,
        blocks: int,
        slower: float,
        share: float,
        confidence: float,
        draw: np.random.Generator,
    ) -> Estimate:
        """Of one comparison."""
        values, reference = (self.draw(blocks, each, draw) for each in (slower, 0.0))
        return quantile_gain(values, reference, share, confidence)


def statuses(
    loads: Loads, blocks: int, slower: float, limit: float, studies: int, seed: int = 1
) -> Counter[str]:
    """What a gate of the median says in so many studies."""
    draw = np.random.Generator(np.random.PCG64(seed))
    gains = (loads.gain(blocks, slower, 0.5, 0.95, draw) for _ in range(studies))
    return Counter(decide(gain, limit) for gain in gains)


def missed(
    loads: Loads, blocks: int, share: float, confidence: float, studies: int, seed: int = 1
) -> float:
    """The share of intervals that do not hold the truth, of equal stacks."""
    draw = np.random.Generator(np.random.PCG64(seed))
    gains = [loads.gain(blocks, 0.0, share, confidence, draw) for _ in range(studies)]
    return float(np.mean([decide(gain, 0.0) != "unsure" for gain in gains]))


def blocks_named(
    loads: Loads, share: float, limit: float, family: int, pilot: np.random.Generator | None
) -> int | None:
    """As `eyelevel plan estimate --fail-if` has it, with `--like` if there is a pilot."""
    error = one_block_error(loads.sd * math.sqrt(2), share) / math.sqrt(loads.sites)
    if pilot is not None:
        seen = loads.gain(PILOT_BLOCKS, 0.0, share, 0.95, pilot)
        error = one_block_error_at_most(seen) or error
    power = 1 - (1 - DECIDING_POWER) / family
    return blocks_to_decide(error, math.log1p(limit), share, family_confidence(family), power)


def families_passed(
    loads: Loads, share: float, limit: float, family: int, like: bool, slower: float, studies: int
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


def main(studies: int) -> int:
    """Three tables in Markdown."""
    print("| blocks, sd | truth | passed | failed | unsure |\n| --- | --- | --- | --- | --- |")
    for sd in (0.1, 0.3):
        for blocks in (10, 31):
            for slower in (0.0, 0.1, 0.2, 0.4):
                found = statuses(Loads(sd), blocks, slower, 0.05, studies)
                cells = (f"{found[each] / studies:.0%}" for each in ("passed", "failed", "unsure"))
                print(f"| {blocks}, {sd:.0%} | {slower:+.0%} | {' | '.join(cells)} |", flush=True)
    print("\n| percentile, blocks | sites | loads | 95 % misses | 99.2 % misses |")
    print("| --- | --- | --- | --- | --- |")
    of_loads = {
        "1 | normal": Loads(0.2),
        "1 | 10 % take twice as long": Loads(0.2, tail=0.1),
        "4 | shared 0.3": Loads(0.2, 4, 0.3),
    }
    for share, blocks in ((0.5, 6), (0.5, 10), (0.5, 31), (0.75, 8), (0.75, 31), (0.95, 40)):
        for name, loads in of_loads.items():
            cells = (
                f"{missed(loads, blocks, share, c, studies):.1%}" for c in (0.95, 1 - 0.05 / 6)
            )
            print(f"| p{share * 100:g}, {blocks} | {name} | {' | '.join(cells)} |", flush=True)
    print("\n| percentile, limit, family | loads | by | blocks | equal pass | twice the limit |")
    print("| --- | --- | --- | --- | --- | --- |")
    for share, limit, family in ((0.5, 0.05, 1), (0.5, 0.1, 1), (0.5, 0.1, 4), (0.75, 0.1, 1)):
        for name, loads, like in (
            ("sd 10 %, 1 site", Loads(0.1), False),
            ("sd 10 %, 1 site", Loads(0.1), True),
            ("sd 20 %, 4 sites, shared 0.3", Loads(0.2, 4, 0.3), True),
        ):
            by = f"`--like`, {PILOT_BLOCKS} blocks" if like else "true scatter"
            rates = [
                families_passed(loads, share, limit, family, like, slower, studies)
                for slower in (0.0, 2 * limit)
            ]
            case = f"p{share * 100:g}, {limit:.0%}, {family}"
            passes = " | ".join(f"{rate:.1%}" for _, rate in rates)
            print(f"| {case} | {name} | {by} | {rates[0][0]:.0f} | {passes} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(rounds(__doc__, STUDIES)))
