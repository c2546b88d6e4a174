"""Shared by all tests: durations written to a file, and an end to the time that a run may take."""

import csv
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

# The same examples in every run: a failure on one machine is one on all. More in `make test-all`.
EXAMPLES = 1000 if os.environ.get("EYELEVEL_TESTS") == "full" else 100
hypothesis.settings.register_profile(
    "eyelevel", derandomize=True, database=None, deadline=None, max_examples=EXAMPLES
)
hypothesis.settings.load_profile("eyelevel")
STEAL_SHARE_MAX = 0.05
"""The largest share of steal time during a test of times; a load is refused from 2 % on."""
STEAL_COLUMN = 7


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--durations-csv", type=Path, metavar="FILE", help="write one row per test to FILE"
    )


def _processor_s() -> float:
    """Return the processor time of this process and of the children that it has reaped."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _steal_share(before: list[int], after: list[int]) -> float:
    """Return the share of time that the hypervisor took between two readings of /proc/stat."""
    passed = [later - earlier for earlier, later in zip(before, after, strict=True)]
    return passed[STEAL_COLUMN] / max(1, sum(passed))


def _processor_ticks() -> list[int]:
    """Return the machine's ticks by kind, user to steal, as proc(5) lists them."""
    first, _, _ = Path("/proc/stat").read_text(encoding="ascii").partition("\n")
    return [int(word) for word in first.split()[1 : STEAL_COLUMN + 2]]


def pytest_sessionfinish() -> None:
    """Remove the runs that tests copied: workers of pytest-xdist may be killed before `atexit`."""
    if helper := sys.modules.get("synthetic_run"):
        helper.remove_written()


def pytest_runtest_setup() -> None:
    """Skip what would begin after the time that `scripts/test --minutes` gives."""
    until = os.environ.get("EYELEVEL_TESTS_UNTIL")
    if until and time.time() > float(until):
        pytest.skip("no time left: scripts/test --all runs it")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    item.stash[_BEGAN_AT] = _processor_s()
    item.stash[_TICKS] = _processor_ticks()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    report.processor_s = _processor_s() - item.stash[_BEGAN_AT]
    stolen = _steal_share(item.stash[_TICKS], _processor_ticks())
    if report.failed and item.get_closest_marker("alone") and stolen > STEAL_SHARE_MAX:
        # What it measured is what the product itself refuses to count, so it shows nothing.
        report.outcome = "skipped"
        reason = f"the hypervisor took {stolen:.0%} of the processor time, and it failed"
        report.longrepr = (str(item.path), item.location[1], reason)
    return report


_BEGAN_AT = pytest.StashKey[float]()
_TICKS = pytest.StashKey[list[int]]()


class DurationsFile:
    """Sums the phases of each test and writes them when the run ends, the slowest first."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.rows: dict[str, tuple[float, float, str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        wall_s, _, outcome = self.rows.get(report.nodeid, (0.0, 0.0, "passed"))
        # Set-up, call and teardown report one after another; the worst of them is the test's.
        worst = max(outcome, report.outcome, key=("passed", "skipped", "failed").index)
        self.rows[report.nodeid] = (wall_s + report.duration, report.processor_s, worst)

    def pytest_sessionfinish(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(("test", "wall_s", "processor_s", "outcome"))
            rows = sorted(self.rows.items(), key=lambda row: -row[1][0])
            for test, (wall_s, processor_s, outcome) in rows:
                writer.writerow((test, f"{wall_s:.3f}", f"{processor_s:.3f}", outcome))


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--durations-csv")
    # Workers of pytest-xdist report to the process that has the option's file.
    if file and not hasattr(config, "workerinput"):
        config.pluginmanager.register(DurationsFile(file))
