"""Measure the minutes until a verdict: `ROUNDS=5 python -m benchmarks.run.time_to_answer`, as root.

Two questions, each as often as ROUNDS says and in turn: what HTTP/3 changes for `agency` on `lte`,
and what one stack changes against itself. A line per study has its minutes from the command to the
verdict, the blocks that it used and the verdict. At the end the blocks of both questions, centred
and moved to a true gain of 5 %, are drawn with replacement into studies by the same rule, for the
median at this time per block. Needs a quiet machine; nothing is asserted.
"""

import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.shared.command import machine, parser_of
from benchmarks.statistics.sequential import ask_rule, blocks_of, resampled
from eyelevel.analysis.claims import verdict_of
from eyelevel.analysis.stats.stopping_rule import run_studies
from eyelevel.analysis.study import read_results
from eyelevel.plan.file.change import BLOCKS_MAX, BLOCKS_MIN, question_plan

ROUNDS = int(os.environ.get("ROUNDS", "5"))
SITE, NETWORK = "agency", "lte"
TRUE_GAIN = -0.05
STUDIES = 2000
SEED = 30
ASKED_MINUTES = 2.0


@dataclass(frozen=True)
class Answer:
    """One study: how long it took from the command, its blocks and what it concluded."""

    minutes: float
    log_ratios: np.ndarray
    verdict: str

    @property
    def minutes_per_block(self) -> float:
        """The mean over the study's blocks, its start and its report included."""
        return self.minutes / len(self.log_ratios)


def main() -> None:
    """Print a line per study, then what a true gain would take."""
    print(machine())
    answers: dict[str, list[Answer]] = defaultdict(list)
    for round_ in range(ROUNDS):
        for name, plan in _questions().items():
            answer = _ask(f"seed = {SEED + round_}\n{plan}")
            answers[name].append(answer)
            spread = answer.log_ratios.std(ddof=1)
            print(
                f"{name:24} {answer.minutes:6.2f} minutes, {len(answer.log_ratios):3} blocks, "
                f"sd of a block {spread:.3f}: {answer.verdict}",
                flush=True,
            )
    for name, found in answers.items():
        middle = statistics.median(each.minutes for each in found)
        print(f"{name:24} {middle:6.2f} minutes in the median of {len(found)}")
        print(f"{'':24} {_for_true_gain(found)}")


def _questions() -> dict[str, str]:
    of_change = question_plan([SITE], "http3", [NETWORK])
    stacks = 'stacks = ["tcp+", { name = "tcp+again", base = "tcp+" }]'
    itself = of_change.replace("quic", "tcp+again").replace(
        'stacks = ["tcp+", "tcp+again"]', stacks
    )
    assert stacks in itself, of_change
    return {f"http3, {SITE}, {NETWORK}": of_change, "a stack against itself": itself}


def _ask(plan: str) -> Answer:
    with tempfile.TemporaryDirectory(prefix="eyelevel-bench-") as folder:
        file, directory = Path(folder) / "plan.toml", Path(folder) / "run"
        file.write_text(plan, encoding="utf-8")
        command = [sys.executable, "-m", "eyelevel", "run", str(file), "--out", str(directory)]
        began_s = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        minutes = (time.monotonic() - began_s) / 60
        results = read_results(directory)
        (gain,) = (each for each in results.gains if each.metric == results.primary_metric)
        return Answer(minutes, blocks_of(directory), str(verdict_of(results, gain)))


def _for_true_gain(found: list[Answer]) -> str:
    """Return the time that a true gain of TRUE_GAIN needs, given these blocks."""
    centred = np.concatenate([each.log_ratios - each.log_ratios.mean() for each in found])
    draw = resampled(centred, 1 + TRUE_GAIN, np.random.Generator(np.random.PCG64(SEED)))
    truth = math.log1p(TRUE_GAIN)
    studies = run_studies(ask_rule(1), draw((STUDIES, BLOCKS_MAX)), BLOCKS_MIN, truth)
    per_block = statistics.median(each.minutes_per_block for each in found)
    blocks = float(np.median(studies.blocks))
    return (
        f"a true gain of {-TRUE_GAIN:.0%} would take {blocks:.0f} blocks, {blocks * per_block:.1f} "
        f"minutes in the median (aim: {ASKED_MINUTES:g}); {per_block * 60:.1f} s per block"
    )


if __name__ == "__main__":
    parser_of(__doc__).parse_args()
    main()
