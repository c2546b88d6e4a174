"""Runs the tests: everything that `make test` covers, everything there is, or what a path names.

    scripts/test                     a sample of each kind of test, in lanes beside one another
    scripts/test --all               every test at its full counts
    scripts/test --beyond            what --all has and the sample has not
    scripts/test PATH[::NAME] ...    one file, one test, one folder or one crate, e.g.
                                     tests/python/analysis/stats/test_paired.py::test_x, crates/link
    scripts/test --lane NAME         one lane: static, rust, units, labs or alone

Lanes that wait for emulated networks run beside those that compute; last, with nothing beside
them, run the tests marked `alone`, and then the few that failed, once more: a machine that others
share may take a processor away in the middle of a test. The duration of each test and lane is in
out/tests, beside what each lane printed.
"""

import argparse
import csv
import os
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from scripts.testing.select import PYTEST, ROOT, command_of, nextest

OUT = ROOT / "out" / "tests"
HERMETIC = tuple(
    f"tests/{name}" for name in ("cli", "crates", "formats", "input", "python", "scripts")
)
SYSTEM = ("tests/system",)
REPORT_EVERY_S = 60.0
REPEATED_MAX = 8
"""Tests that may fail beside others and are run once more alone; more than so many is no chance."""

INTERRUPTED = 128 + signal.SIGINT
"""The exit status of what SIGINT ended, as shells give it."""

SAMPLE, ALL, BEYOND = "sample", "all", "beyond"
MARKED = {SAMPLE: "not full", ALL: "", BEYOND: "(full or counted)"}
"""Which marks of pytest each selection wants; `counted` tests have a sample and a full count."""


@dataclass(frozen=True)
class Lane:
    """Commands that run one after another; `nice` makes room for lanes that keep to time."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    nice: int = 0


def lanes_of(selection: str) -> dict[str, Lane]:
    """Return the lanes of a selection by name."""
    static = tuple(
        tuple(line.split())
        for line in (ROOT / "scripts" / "check").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith(("#", "set ", "cd ", "PATH="))
    )
    doc_tests = (
        "cargo",
        "test",
        "--doc",
        "--release",
        "--locked",
        "--quiet",
        *_documented_crates(),
    )
    whole = [("--workspace",)]
    if selection == BEYOND:
        whole = [("--package=eyelevel-fuzz",)]
    rust = tuple(tuple(nextest("--cargo-quiet", *arguments)) for arguments in whole)
    # Those beyond the sample are the heaviest: with more beside one another they wait too long.
    waiting, computing = (2, 1) if selection == BEYOND else (3, 3)
    lanes = [
        Lane("labs", (_pytest("labs", SYSTEM, selection, "not alone", workers=waiting),)),
        # What compiles is the longest chain on a clean checkout, so that units fill its gaps.
        Lane("rust", rust if selection == BEYOND else (*rust, doc_tests), nice=10),
        Lane("units", (_pytest("units", HERMETIC, selection, workers=computing),), nice=15),
        Lane("alone", (_pytest("alone", SYSTEM, selection, "alone"),)),
    ]
    if selection != BEYOND:
        lanes.insert(0, Lane("static", static, nice=10))
    return {lane.name: lane for lane in lanes}


def _documented_crates() -> list[str]:
    """Return arguments that name the crates with examples in their documentation."""
    sources = (ROOT / "crates").glob("*/src/**/*.rs")
    with_fences = {
        source.relative_to(ROOT / "crates").parts[0]
        for source in sources
        if any(
            line.lstrip().startswith(("/// ```", "//! ```"))
            for line in source.read_text(encoding="utf-8").splitlines()
        )
    }
    return [f"--package=eyelevel-{name}" for name in sorted(with_fences - {"lab"})]


def _pytest(
    lane: str, folders: Sequence[str], selection: str, marked: str = "", *, workers: int = 0
) -> tuple[str, ...]:
    """Return a command of pytest; a file's tests stay in one worker, since they share fixtures."""
    marks = " and ".join(each for each in (MARKED[selection], marked) if each)
    side_by_side = (f"--numprocesses={workers}", "--dist=loadfile") if workers else ()
    table = OUT / f"{lane}.csv"
    words = ("--quiet", f"--durations-csv={table}", *side_by_side, *folders)
    return (*PYTEST, "-m", marks, *words) if marks else (*PYTEST, *words)


class Runner:
    """Runs lanes, keeps what they print in files, and ends what it started on a signal."""

    def __init__(self) -> None:
        self.environment = dict(os.environ)
        # Tests start the command hundreds of times, which then compiles all of its modules.
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.rows: list[tuple[str, str, float, int]] = []
        self.running: set[str] = set()
        self.processes: set[subprocess.Popen[bytes]] = set()
        self.interrupted = threading.Event()
        self.lock = threading.Lock()

    def run(self, lane: Lane) -> bool:
        """Run a lane and print its output when it ends; return whether all of it passed."""
        began = time.monotonic()
        log = OUT / f"{lane.name}.log"
        self.running.add(lane.name)
        statuses = []
        with log.open("wb") as file:
            for command in lane.commands:
                if self.interrupted.is_set():
                    statuses.append(INTERRUPTED)
                    break
                step_began = time.monotonic()
                status = self._call(lane, command, file)
                statuses.append(status)
                self.rows.append(
                    (lane.name, _title(command), time.monotonic() - step_began, status)
                )
                if "nextest" in command:
                    _write_nextest_durations(OUT / f"{lane.name}.csv")
        self.running.discard(lane.name)
        duration_s = time.monotonic() - began
        passed = not any(statuses)
        with self.lock:
            sys.stdout.write(log.read_text(encoding="utf-8", errors="replace"))
            print(
                f"== {lane.name}: {'passed' if passed else 'FAILED'} in {duration_s:.0f} s",
                flush=True,
            )
        self.rows.append((lane.name, "(lane)", duration_s, int(not passed)))
        return passed

    def _call(self, lane: Lane, command: Sequence[str], log: IO[bytes]) -> int:
        log.write(f"$ {_title(command)}\n".encode())
        log.flush()
        process = subprocess.Popen(
            # Tests interrupt what they start, which a shell's background would have ignored.
            ["env", "--default-signal=INT,QUIT", "nice", "-n", str(lane.nice), *command],
            cwd=ROOT,
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=self.environment,
        )
        self.processes.add(process)
        try:
            return process.wait()
        finally:
            self.processes.discard(process)

    def interrupt(self) -> None:
        """Interrupt what runs, and start nothing more."""
        self.interrupted.set()
        for process in list(self.processes):
            process.send_signal(signal.SIGINT)

    def beside(self, lanes: Sequence[Sequence[Lane]]) -> None:
        """Run sequences of lanes beside one another."""
        threads = [
            threading.Thread(target=lambda each=each: [self.run(lane) for lane in each])
            for each in lanes
        ]
        for thread in threads:
            thread.start()
        began = time.monotonic()
        while any(thread.is_alive() for thread in threads):
            for thread in threads:
                thread.join(REPORT_EVERY_S / len(threads))
            if self.running:
                minutes = (time.monotonic() - began) / 60
                print(
                    f"{minutes:.0f} min: {', '.join(sorted(self.running))} running", file=sys.stderr
                )

    def has_failed(self, lane: Lane) -> bool:
        """Return whether a command of a lane has failed."""
        return any(name == lane.name and status for name, _, _, status in self.rows)

    def repeat_alone(self, lane: Lane) -> bool:
        """Run the failed tests of a lane once more with nothing beside them.

        What then passes failed for want of the machine: it is printed, and the lane has passed.
        """
        with (OUT / f"{lane.name}.csv").open(newline="", encoding="utf-8") as file:
            failed = [row["test"] for row in csv.DictReader(file) if row["outcome"] == "failed"]
        if not 0 < len(failed) <= REPEATED_MAX:
            return False
        table = OUT / f"{lane.name}-alone.csv"
        again = (*PYTEST, "--quiet", f"--durations-csv={table}", *failed)
        if not self.run(Lane(f"{lane.name}-alone", (again,))):
            return False
        print(f"{lane.name}: failed once and then passed alone: {', '.join(failed)}")
        self.rows = [(*row[:3], 0) if row[0] == lane.name else row for row in self.rows]
        return True

    def write_durations(self) -> None:
        """Write one row per command and lane."""
        with (OUT / "lanes.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(("lane", "command", "wall_s", "status"))
            writer.writerows(
                (lane, what, f"{s:.1f}", status) for lane, what, s, status in self.rows
            )


def _title(command: Sequence[str]) -> str:
    """Return a command as a person would type it."""
    words = ["python" if word == sys.executable else word for word in command]
    return " ".join(word for word in words if ".opt-level=" not in word)


def _write_nextest_durations(table: Path) -> None:
    """Write the durations of nextest's last run, the slowest test first."""
    report = ROOT / "target" / "nextest" / "default" / "junit.xml"
    if not report.exists():
        return
    cases = xml.etree.ElementTree.parse(report).getroot().iter("testcase")
    rows = [
        (f"{case.get('classname')}::{case.get('name')}", case.get("time", "0")) for case in cases
    ]
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("test", "wall_s"))
        writer.writerows(sorted(rows, key=lambda row: -float(row[1])))


def main() -> int:
    """Run what the arguments select; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="scripts/test",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("selection", nargs="*", metavar="PATH[::NAME]")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--all", action="store_const", const=ALL, dest="kind")
    kinds.add_argument("--beyond", action="store_const", const=BEYOND, dest="kind")
    parser.add_argument("--lane", choices=sorted(lanes_of(SAMPLE)), action="append")
    parser.add_argument(
        "--minutes", type=float, help="begin no test after so many; the rest is skipped"
    )
    arguments = parser.parse_args()
    kind = arguments.kind or SAMPLE
    OUT.mkdir(parents=True, exist_ok=True)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    if kind != SAMPLE:
        os.environ["EYELEVEL_TESTS"] = "full"
    if arguments.minutes:
        os.environ["EYELEVEL_TESTS_UNTIL"] = str(time.time() + 60 * arguments.minutes)
    if arguments.selection:
        return run_selected(arguments.selection)
    return run_lanes(kind, arguments.lane)


def run_selected(selections: Sequence[str]) -> int:
    """Run each selection in the foreground; return the first failure's status."""
    try:
        commands = [command_of(selection) for selection in selections]
    except ValueError as error:
        print(f"scripts/test: {error}", file=sys.stderr)
        return 2
    statuses = [subprocess.run(command, cwd=ROOT, check=False).returncode for command in commands]
    return next((status for status in statuses if status), 0)


def run_lanes(kind: str, names: Sequence[str] | None) -> int:
    """Run the lanes of a selection, all or those named; return the exit status."""
    lanes = lanes_of(kind)
    chosen = [lane for name, lane in lanes.items() if not names or name in names]
    runner = Runner()
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    began = time.monotonic()
    try:
        # What compiles goes one after another; the rest of the machine is the others'.
        compiling = [lane for lane in chosen if lane.name in ("static", "rust")]
        beside = [[lane] for lane in chosen if lane.name in ("labs", "units")]
        runner.beside([each for each in (compiling, *beside) if each])
        for lane in chosen:
            if lane.name == "alone":
                runner.run(lane)
        for lane in chosen:
            if lane.name in ("labs", "units", "alone") and runner.has_failed(lane):
                runner.repeat_alone(lane)
    except KeyboardInterrupt:
        runner.interrupt()
        print("interrupted; out/tests has what each lane printed", file=sys.stderr)
        return INTERRUPTED
    finally:
        runner.rows.append(("all", kind, time.monotonic() - began, 0))
        runner.write_durations()
    failed = sorted({lane for lane, _, _, status in runner.rows if status})
    passed = not failed
    load = os.getloadavg()
    print(
        f"{'passed' if passed else 'failed: ' + ', '.join(failed)} in "
        f"{(time.monotonic() - began) / 60:.1f} min, load average {load[0]:.1f}; "
        f"durations in {OUT.relative_to(ROOT)}"
    )
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
