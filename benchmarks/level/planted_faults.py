"""Measure how often a planted fault is named first: `python -m benchmarks.level.planted_faults`.

Needs root and a quiet machine; a round is one observation of each of eleven stacks, 20 s each. Runs
are kept in `--out`, and the same command goes on. Each fault is planted in our own server. One
observation is a single run of each scenario of `eyelevel server check`; it is judged as a report
card is, but by the interval in which one more run of the level stack would lie.
"""

import csv
import json
import math
import random
import statistics
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

from benchmarks.shared.command import machine, parser_of
from eyelevel.analysis.stats.estimate import Estimate, t_estimate, undetermined
from eyelevel.base.errors import LabError
from eyelevel.base.json_types import JsonMapping
from eyelevel.calibration.level.classes import (
    SAMPLES_MIN,
    SCENARIOS_BY_NAME,
    Compared,
    Value,
)
from eyelevel.calibration.level.report_card import (
    CHECKED,
    CRITERIA,
    VERSION_NAMES,
    Finding,
    judge_server,
    order_findings,
    read_costs,
)
from eyelevel.calibration.level.rows import Run, rows_of
from eyelevel.calibration.measuring.measure import in_force_of, stacks_of
from eyelevel.calibration.measuring.runs import Recordings, run_scenario
from eyelevel.load.quiet_host import HostWait
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.file.server_question import LEVEL
from eyelevel.plan.stacks import HttpVersion, Stack
from eyelevel.store.disk import temporary_folder
from scripts.arguments import ROOT

TABLE = ROOT / "benchmarks/results/level/planted-faults.csv"
TRIES = 3
CONFIDENCE = 1 - 0.05 / len(CRITERIA)
"""The confidence of each aspect's interval; together they hold in 95 % of observations. A count's
interval, from its least to its greatest value, has none."""


@dataclass(frozen=True)
class Planted:
    """A fault: its name, HTTP version and setting, and the aspect that has to be named first."""

    name: str
    version: HttpVersion
    setting: JsonMapping
    aspect: str = ""
    """Empty for an unchanged server, of which none may be named."""

    @property
    def stack_name(self) -> str:
        """The name of its stack, without spaces."""
        return f"{self.version}-{self.name.replace(' ', '-')}"


PLANTED = (
    Planted("unchanged", "h2", {}),
    Planted("priorities ignored", "h2", {"priorities": False}, "late urgent request"),
    Planted("64 kB unsent", "h2", {"unsent_bytes_max": 65_536}, "late urgent request"),
    Planted("no session tickets", "h2", {"session_tickets": False}, "session tickets"),
    Planted("unchanged", "h3", {}),
    Planted("no pacing", "h3", {"pacing": False}, "pacing"),
    Planted("initial window of 4", "h3", {"initial_window_packets": 4}, "initial window"),
    Planted("chain of 4 kB", "h3", {"certificate_chain_bytes": 4000}, "certificate chain"),
    Planted("50 ms before bytes", "h3", {"think_time": 50}, "first usable byte"),
)


def build_stack(version: HttpVersion, name: str, setting: JsonMapping) -> Stack:
    """Return our own stack with tickets, as a report card has it, and with a setting."""
    keys = {"session_tickets": True, **setting}
    pairs = "".join(f", {key} = {json.dumps(value)}" for key, value in keys.items())
    level = LEVEL[version]
    plan = parse_plan(
        f'sites = ["level"]\nnetworks = ["lte"]\nblocks = 2\nreference = "{level}"\n'
        f'stacks = ["{level}", {{ name = "{name}", base = "{level}"{pairs} }}]\n',
        "planted",
        site_names=["level"],
    )
    return stacks_of(plan)[1]


def predict_difference(
    level: Sequence[Value], observed: Sequence[Value], compared: Compared
) -> Estimate:
    """Return one run's value less the level's, with the interval of one more run of the level."""
    if len(level) < SAMPLES_MIN or len(observed) != 1:
        return undetermined(f"it needs {SAMPLES_MIN} values of the level and one observed")
    if compared == "label":
        return Estimate(1.0, 1.0, 1.0) if observed[0] not in level else Estimate(0.0, 0.0, 0.0)
    known, (value,) = [float(each) for each in level], [float(each) for each in observed]
    if not all(map(math.isfinite, (*known, value))):
        return undetermined("a value is not a finite number")
    if compared == "count":
        middle = value - statistics.median(known)
        return Estimate(middle, value - max(known), value - min(known))
    mean, error = statistics.fmean(known), statistics.stdev(known) * math.sqrt(1 + 1 / len(known))
    if error == 0.0:
        return Estimate(value - mean, value - mean, value - mean)
    return t_estimate(value - mean, error, len(known) - 1, len(known), CONFIDENCE)


@dataclass(frozen=True)
class Kept:
    """One run that was measured, in a round of all stacks."""

    round: int
    stack: str
    run: Run


def read_kept(file: Path) -> list[Kept]:
    """Return the runs of a file of JSON lines; none if there is no file."""
    if not file.exists():
        return []
    lines = (json.loads(line) for line in file.read_text("utf-8").splitlines())
    return [
        Kept(each["round"], each["stack"], Run(each["scenario"], 0, each["values"]))
        for each in lines
    ]


def measure(file: Path, stacks: Sequence[Stack], rounds: int) -> None:
    """Measure the runs that are missing, in rounds; within each, the order is drawn by its seed."""
    have = {(each.round, each.stack, each.run.scenario) for each in read_kept(file)}
    missing = [task for task in _list_tasks(stacks, rounds) if _key(task) not in have]
    file.parent.mkdir(parents=True, exist_ok=True)
    began_s = time.monotonic()
    with temporary_folder("planted") as folder, file.open("a", encoding="utf-8") as out:
        sizes = {each.body_bytes for each in CHECKED if each.body_bytes}
        recordings = Recordings.write(folder, sizes)
        for number, task in enumerate(missing):
            round_, stack, scenario = task
            left_s = (time.monotonic() - began_s) / max(1, number) * (len(missing) - number)
            step = f"{number + 1}/{len(missing)}: {stack.name}, {scenario}"
            print(f"{step}; {left_s / 60:.0f} min left", file=sys.stderr)
            for attempt in range(TRIES):
                HostWait().wait()
                try:
                    seed = round_ * TRIES + attempt
                    values = run_scenario(SCENARIOS_BY_NAME[scenario], stack, recordings, seed)
                except LabError as error:
                    print(error, file=sys.stderr)
                    continue
                kept = {"round": round_, "stack": stack.name, "scenario": scenario}
                out.write(json.dumps({**kept, "values": values}) + "\n")
                out.flush()
                break


Task = tuple[int, Stack, str]


def _list_tasks(stacks: Sequence[Stack], rounds: int) -> Iterator[Task]:
    for round_ in range(rounds):
        both = list(product(stacks, CHECKED))
        random.Random(round_).shuffle(both)
        yield from ((round_, stack, scenario.name) for stack, scenario in both)


def _key(task: Task) -> tuple[int, str, str]:
    return task[0], task[1].name, task[2]


def observe(kept: Sequence[Kept], level: Stack, stack: Stack) -> Iterator[list[Finding]]:
    """Yield the ordered findings of each complete observation of a stack, by rounds."""
    runs = [each.run for each in kept if each.stack == level.name]
    for round_ in sorted({each.round for each in kept}):
        seen = [each.run for each in kept if (each.round, each.stack) == (round_, stack.name)]
        if len(seen) < len(CHECKED):
            continue
        both = [*runs, *(replace(run, side=1) for run in seen)]
        rows = rows_of(both, in_force_of((level, stack)), compare=predict_difference)
        version = level.http_version
        yield order_findings(judge_server(version, stack.name, rows, CHECKED, (), read_costs()))


def find_first(findings: Iterable[Finding]) -> str:
    """Return the aspect of the first fault that is no consequence of another; empty if none."""
    faults = [each for each in findings if each.is_fault]
    causes = {each.aspect for each in faults}
    return next((f.aspect for f in faults if not causes & {*f.consequence_of}), "")


def write_table(rows: Sequence[tuple[str, ...]], state: str) -> None:
    """Write the table of what was named first."""
    with TABLE.open("w", encoding="utf-8") as out:
        out.write("# finding: How often one observation of 20 s names the planted fault first.\n")
        out.write("# command: python -m benchmarks.level.planted_faults\n")
        out.write(f"# date: {datetime.now(UTC).date().isoformat()}\n# machine: X\n")
        out.write(f"# load average: {state}\n")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("protocol", "planted", "observations", "as expected", "named instead"))
        writer.writerows(rows)


def main() -> None:
    """Measure, judge each observation, and write and print how often the fault is named first."""
    parser = parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("results/planted-faults"))
    arguments = parser.parse_args()
    state = machine()
    print(state)
    levels = {each: build_stack(each, f"{each}-level", {}) for each in LEVEL}
    stacks = [build_stack(each.version, each.stack_name, each.setting) for each in PLANTED]
    file = arguments.out / "runs.jsonl"
    measure(file, [*levels.values(), *stacks], arguments.rounds)
    kept = read_kept(file)
    rows = []
    for planted, stack in zip(PLANTED, stacks, strict=True):
        named = [find_first(each) for each in observe(kept, levels[planted.version], stack)]
        right = named.count(planted.aspect)
        others = "; ".join(sorted({each or "none" for each in named if each != planted.aspect}))
        rows.append(
            (VERSION_NAMES[planted.version], planted.name, str(len(named)), str(right), others)
        )
        print(*rows[-1], sep=", ")
    write_table(rows, state)


if __name__ == "__main__":
    main()
