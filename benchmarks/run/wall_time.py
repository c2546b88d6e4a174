"""Divide the wall time of loads into phases: `python -m benchmarks.run.wall_time DIR ...`.

DIR holds a finished run of `eyelevel run`. The phases are in its records: `lab` builds the lab,
`start` starts the browser's processes, `open` opens an empty page in it, `settle` waits until the
browser is idle, `page` lasts from navigation to the load event, `quiet` until nothing changes any
more, `collect` reads what the page observed, `after_load` does the steps after the load, `end` ends
the browser, and `rest` is all else that the trial needs before its record. Only loads that are `ok`
count. Nothing is asserted.
"""

import statistics
import sys
from collections import defaultdict
from pathlib import Path

from benchmarks.shared.command import machine, runs
from eyelevel.base.json_types import JsonMapping
from eyelevel.browser.waiting import PHASES
from eyelevel.store.directory import iterate_trials

ASKED_MS = 800
OF_THE_PAGE = ("page", "quiet", "after_load")
"""Phases that the page or the plan determines; all others are a load's own cost."""


def parts_ms(record: JsonMapping) -> dict[str, float]:
    """Return the milliseconds of each part of one load; their sum is its wall time."""
    of_browser = dict(record["browser"]["wall_ms"])
    total_ms = of_browser.pop("total")
    host = record["host"]
    before_browser_ms = host["wall_ms"] - host["waited_for_host_ms"] - total_ms
    parts = {"lab": host["lab_startup_ms"]}
    names = {"load": "page"}
    parts |= {names.get(name, name): of_browser.get(name, 0.0) for name in (*PHASES, "end")}
    # What no mark encloses: folders, the lab's end, the samples of the machine.
    within_ms = total_ms - sum(of_browser.values())
    return parts | {"rest": before_browser_ms - host["lab_startup_ms"] + within_ms}


def main(directory: Path) -> None:
    """Print one line per part: the median over loads, the least and the largest."""
    records = (trial.record for trial in iterate_trials(directory))
    loads = [record for record in records if record["outcome"] == "ok"]
    seen: dict[str, list[float]] = defaultdict(list)
    for record in loads:
        parts = parts_ms(record)
        for name, value in parts.items():
            seen[name].append(value)
        own = sum(value for name, value in parts.items() if name not in OF_THE_PAGE)
        seen["all but page, quiet and steps"].append(own)
    print(f"{directory}: {len(loads)} loads; asked: at most {ASKED_MS} ms beyond page and quiet")
    print(f"{'part, ms':32} {'median':>8} {'least':>8} {'largest':>8}")
    for name, values in seen.items():
        if any(values):
            print(
                f"{name:32} {statistics.median(values):8.0f} {min(values):8.0f} {max(values):8.0f}"
            )


if __name__ == "__main__":
    print(machine())
    for each in runs(__doc__):
        main(each)
    sys.exit(0)
