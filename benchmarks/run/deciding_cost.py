"""Measure what interim analyses take of the time of a study that may stop early.

`python -m benchmarks.run.deciding_cost DIR`

DIR is a run of a plan with `stop`. Its looks are taken again in their order, as the run took them
after each repetition. First the new records are read and their metrics computed, which are kept
and not computed again for the report, then the look is taken: a line has both, and the shares of
all so far in the time of all loads. Asked: at most 1 %.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from eyelevel.analysis.run_files import read_facts, read_stored_plan
from eyelevel.plan.plan_json import StoredPlan
from eyelevel.run.study.stopping import Stopping
from eyelevel.store.directory import PLAN_FILE, TRIALS, list_committed, read_trial

SHOWN_EVERY = 5


def main(directory: Path) -> None:
    """Print the lines."""
    stored = read_stored_plan(directory)
    there = list_committed(directory)
    by_repetition: dict[int, list[str]] = {}
    for trial in stored.trials:
        if trial.hash in there:
            by_repetition.setdefault(trial.repetition, []).append(trial.hash)
    print("repetition   loads   loads took, s   metrics, ms   look, ms   so far: metrics     looks")
    with tempfile.TemporaryDirectory() as folder:
        _replay(directory, Path(folder), stored, by_repetition)


def _replay(
    source: Path,
    copy: Path,
    stored: StoredPlan,
    by_repetition: Mapping[int, Sequence[str]],
) -> None:
    shutil.copy(source / PLAN_FILE, copy)
    (copy / TRIALS).mkdir()
    if (source / "pictures").exists():
        (copy / "pictures").symlink_to((source / "pictures").resolve())
    stopping = Stopping(stored.plan, copy)
    loads, loads_s, metrics_s, looks_s = 0, 0.0, 0.0, 0.0
    last = max(by_repetition)
    for repetition, names in sorted(by_repetition.items()):
        for name in names:
            shutil.copytree(source / TRIALS / name, copy / TRIALS / name)
            loads_s += read_trial(source, name).record["host"]["wall_ms"] / 1e3
        loads += len(names)
        began_s = time.perf_counter()
        read_facts(copy, stored)
        read_s = time.perf_counter()
        stopping.ended(repetition)
        ended_s = time.perf_counter()
        metrics_s, looks_s = metrics_s + read_s - began_s, looks_s + ended_s - read_s
        if repetition % SHOWN_EVERY == 0 or repetition == last:
            each = f"{(read_s - began_s) * 1e3:13.1f} {(ended_s - read_s) * 1e3:10.1f}"
            shares = f"{metrics_s / loads_s:17.2%} {looks_s / loads_s:9.2%}"
            print(f"{repetition:10} {loads:7} {loads_s:15.1f} {each} {shares}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    main(parser.parse_args().directory)
