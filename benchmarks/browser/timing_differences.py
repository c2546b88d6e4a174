"""Measure by how much a page's own timings and the browser's events differ, over many loads.

`python -m benchmarks.browser.timing_differences`: loads every shipped site over `cable` in both
browsers until its time is over, and prints for each timing the number of loads, the median and the
largest difference. A load counts whatever else became of it: a busy machine is the harder case.
`SECONDS_EACH=60` for a look.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import eyelevel.sites
from eyelevel.browser.cross_check import TOLERANCE_MS

SECONDS_EACH = float(os.environ.get("SECONDS_EACH", 900))
BROWSERS = tuple(os.environ.get("BROWSERS", "chromium firefox").split())
SHIPPED = Path(eyelevel.sites.__file__).parent / "shipped"


def differences_of(browser: str, site: str, stack: str) -> dict[str, float] | None:
    """Return the differences of one load; None if it reported none."""
    command = [sys.executable, "-m", "eyelevel", "load", site, "--network", "cable"]
    command += ["--stack", stack, "--browser", browser, "--no-capture", "--json"]
    environment = {**os.environ, "EYELEVEL_HOST_WAIT": "0"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    try:
        (trial,) = json.loads(done.stdout)
    except ValueError:
        print(f"{browser}, {site}, {stack}: {done.stderr.strip()}", file=sys.stderr)
        return None
    found: dict[str, float] = trial["browser"].get("timing_differences_ms", {})
    return found


def main() -> int:
    """Prints a table for each browser."""
    sites = sorted(file.stem for file in SHIPPED.glob("*.wacz"))
    for browser in BROWSERS:
        until_s = time.monotonic() + SECONDS_EACH
        found: dict[str, list[float]] = defaultdict(list)
        number = 0
        while time.monotonic() < until_s:
            stack = ("tcp+", "quic")[number // len(sites) % 2]
            loaded = differences_of(browser, sites[number % len(sites)], stack)
            for name, difference_ms in (loaded or {}).items():
                found[name].append(difference_ms)
            number += 1
        print(f"{browser}, {number} loads; tolerance {TOLERANCE_MS:g} ms")
        for name, all_ms in found.items():
            median_ms = statistics.median(all_ms)
            print(f"| {browser} | `{name}` | {len(all_ms)} | {median_ms:.2f} | {max(all_ms):.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
