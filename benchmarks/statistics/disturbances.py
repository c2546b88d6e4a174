"""Simulate what a busy machine does to a gain: `python -m benchmarks.statistics.disturbances
[--quick]`.

Synthetic studies of two stacks that are equal, in blocks of one load each. Some of the machine's
moments slow what runs then; a moment lasts one load, or one block with all its attempts. It is made
by other programs, whose processor time each load measures, or by something that nobody sees. A
slowed load has late packets, and quic's has them twice as often (other shares: see SCENARIOS).

Each row is the gain in the mean over all blocks, where the truth is what the machine did to the
stacks unequally (0 unless said), with its standard error. `alone again`: a load with late packets
is tried again alone, and its block excluded if that fails, too, as it was done once. `own
pressure`: a load with late packets excludes its block. `whole blocks`: what
`eyelevel.analysis.trials` and `eyelevel.run.block.attempts` do, called here. Seconds; nothing is
asserted.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, product
from typing import Any

import numpy as np
import polars as pl

from benchmarks.shared.markdown import print_head
from benchmarks.statistics.intervals import SEED, SPREAD
from eyelevel.analysis.trials.blocks import select_blocks
from eyelevel.analysis.trials.facts import FACT_COLUMNS, TRIAL_COLUMNS
from eyelevel.analysis.trials.post_hoc_exclusions import JUDGED_BY, judge_table
from eyelevel.load.trial import TrialResult
from eyelevel.run.block.attempts import RETRIES, with_retries
from eyelevel.store.frames import Frames

BLOCKS, BLOCKS_QUICK = 31_000, 6_000  # 100 studies of ten sites and 31 repetitions
STACKS = ("tcp+", "quic")
SLOWED = 0.2
"""Share of moments."""
FOREIGN_QUIET, FOREIGN_BUSY = (0.0, 0.08), (0.3, 0.7)
"""The ranges of other programs' share of the CPU, which is uniform, in quiet and in slow
moments."""
NO_FRAMES = Frames.of([])


@dataclass(frozen=True)
class Scenario:
    """The slowing of either stack in a slow moment, and how often it makes its packets late."""

    name: str
    times: tuple[float, float] = (1.3, 1.3)
    late: tuple[float, float] = (0.3, 0.6)

    @property
    def truth(self) -> float:
        """The log ratio of the means where nothing is excluded."""
        return SLOWED * float(np.log(self.times[1] / self.times[0]))


SCENARIOS = (
    Scenario("quic flagged twice as often"),
    Scenario("only quic flagged", late=(0.0, 0.8)),
    Scenario("quic slowed more, flagged more", times=(1.2, 1.5), late=(0.1, 0.3)),
)
LASTS = ("one load", "one block")
Attempt = tuple[float, float, bool]
"""Milliseconds, others' share of the processors, whether packets were late."""


def attempts(
    scenario: Scenario, lasts: str, *, seen: bool, blocks: int, draw: np.random.Generator
) -> list[list[tuple[Attempt, Attempt]]]:
    """Return by stack and block the first attempt and what a second one would be."""
    of_block = draw.random(blocks) < SLOWED
    found = []
    for times, late in zip(scenario.times, scenario.late, strict=True):
        both = []
        for _ in range(2):
            slowed = of_block if lasts == "one block" else draw.random(blocks) < SLOWED
            logs = SPREAD * draw.standard_normal(blocks) + np.log(times) * slowed
            shares = np.where(
                slowed & seen, draw.uniform(*FOREIGN_BUSY, blocks),
                draw.uniform(*FOREIGN_QUIET, blocks),
            )  # fmt: skip
            flagged = slowed & (draw.random(blocks) < late)
            both.append(zip(1000 * np.exp(logs), shares, flagged, strict=True))
        found.append([(first, second) for first, second in zip(*both, strict=True)])
    return found


def whole_blocks(both: tuple[Attempt, Attempt]) -> tuple[Attempt, str]:
    """Return the attempt that counts and its recorded outcome, by the rule of today."""
    left = iter(both)

    def run() -> TrialResult:
        milliseconds, share, is_late = next(left)
        record: dict[str, Any] = {
            "outcome": "late-packets" if is_late else "ok",
            "navigation": {"page_load_time_ms": milliseconds},
            "attempt": (milliseconds, share, is_late),
        }
        return TrialResult(record, NO_FRAMES)

    record = with_retries(run, RETRIES).record
    return record["attempt"], record["outcome"]


def alone_again(both: tuple[Attempt, Attempt]) -> tuple[Attempt, str]:
    """Return the same by the rule that was: what is flagged is tried again, the last one counts."""
    attempt = next((each for each in both if not each[2]), both[-1])
    return attempt, "starved" if attempt[2] else "ok"


def own_pressure(both: tuple[Attempt, Attempt]) -> tuple[Attempt, str]:
    """Return the same where what is flagged excludes its block at once."""
    return both[0], "starved" if both[0][2] else "ok"


Way = Callable[[tuple[Attempt, Attempt]], tuple[Attempt, str]]
WAYS: dict[str, Way] = {
    "alone again": alone_again, "own pressure": own_pressure, "whole blocks": whole_blocks,
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """The mean gain, its standard error, and which share of the blocks was excluded."""

    gain: float
    error: float
    excluded: float


def simulate(
    scenario: Scenario,
    lasts: str,
    way: Way,
    *,
    seen: bool,
    blocks: int = BLOCKS_QUICK,
    seed: int = SEED,
) -> Cell:
    """Return one cell."""
    draw = np.random.Generator(np.random.PCG64(seed))
    made = attempts(scenario, lasts, seen=seen, blocks=blocks, draw=draw)
    rows: list[tuple[object, ...]] = []
    number = count()
    for stack, loads in zip(STACKS, made, strict=True):
        for block, both in enumerate(loads):
            (milliseconds, share, _), outcome = way(both)
            # Of the rule that was, nobody measured others' time.
            foreign = share if way is whole_blocks else None
            rows.append((str(next(number)), stack, f"b{block}", outcome, foreign, milliseconds))
    names = ["hash", "stack", "block", "outcome", "cpu_foreign_share", "page_load_time_ms"]
    table = pl.DataFrame(rows, schema=names, orient="row").with_columns(
        pl.col("cpu_foreign_share").cast(pl.Float64),
        site=pl.lit("site"), network=pl.lit("lte"), outcome_detail=pl.lit(""),
        machine=pl.lit(None, pl.String), machine_class=pl.lit(""), missed=pl.lit(""),
        cpu_steal_share=pl.lit(0.0), repetition=pl.lit(1),
    )  # fmt: skip
    unused = {*JUDGED_BY} - {*table.columns}
    schema = TRIAL_COLUMNS | FACT_COLUMNS
    table = table.with_columns(pl.lit(None, schema[name]).alias(name) for name in unused)
    kept = select_blocks(judge_table(table), STACKS).kept
    theirs, ours = (kept.filter(stack=stack) for stack in STACKS)
    pairs = ours.join(theirs, on="block", suffix="_theirs").sort("block")
    ours_ms, theirs_ms = pairs["page_load_time_ms"], pairs["page_load_time_ms_theirs"]
    differences = (ours_ms.log() - theirs_ms.log()).to_numpy()
    error = float(differences.std(ddof=1) / np.sqrt(differences.size))
    return Cell(float(np.expm1(differences.mean())), error, 1 - differences.size / blocks)


def main(quick: bool) -> None:
    """Print the table, in Markdown."""
    print_head(("what", "lasts", "seen", "truth", "way", "blocks excluded", "gain", "error"))
    blocks = BLOCKS_QUICK if quick else BLOCKS
    for scenario, lasts, seen in product(SCENARIOS, LASTS, (True, False)):
        for name, way in WAYS.items():
            cell = simulate(scenario, lasts, way, seen=seen, blocks=blocks)
            words = (
                scenario.name, lasts, "yes" if seen else "no", f"{np.expm1(scenario.truth):+.1%}",
                name, f"{cell.excluded:.1%}", f"{cell.gain:+.2%}", f"{cell.error:.2%}",
            )  # fmt: skip
            print(f"| {' | '.join(words)} |", flush=True)


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
