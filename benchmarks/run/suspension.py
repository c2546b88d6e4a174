"""Measure what watching for suspensions costs a load, and whether a busy machine is mistaken for
one.

`LOADS=10 HOGS=4 python -m benchmarks.run.suspension`: loads of `agency` over `lte` in each browser
that is there, with HOGS processes beside them that never wait. Nothing is stopped, so that whatever
is reported as suspended is a false alarm. The processor time is that of the lab's thread.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.shared.command import machine, parser_of
from eyelevel.base.errors import BrowserStartError
from eyelevel.lab.client import Lab, LabSummary
from eyelevel.load.trial import run_trial
from eyelevel.plan.browser import Browser
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.trials import expand
from eyelevel.sites.recorded import open_site

LOADS = int(os.environ.get("LOADS", "10"))
HOGS = int(os.environ.get("HOGS", "0"))
SITE, NETWORK, STACK = "agency", "lte", "tcp+"
THREAD = "suspension"
Seen = tuple[float, float]
"""Milliseconds of a processor, and seconds that the lab was there."""


def main() -> None:
    """A row a browser."""
    parser_of(__doc__).parse_args()
    print(f"{machine()}; {LOADS} loads, {HOGS} processes beside them\n")
    print(f"{'':10} {'ms a load':>10} {'% of a core':>12} {'alarms':>7}")
    for name in ("chromium", "firefox"):
        try:
            with _hogs():
                seen, alarms = _watched(Browser(browser=name))
        except BrowserStartError as error:
            print(f"{name:10} {error}")
            continue
        cost_ms = statistics.median(each[0] for each in seen)
        share = statistics.median(each[0] / each[1] / 10 for each in seen)
        print(f"{name:10} {cost_ms:10.2f} {share:12.3f} {alarms:7}")


def _watched(browser: Browser) -> tuple[list[Seen], int]:
    site = open_site(SITE)
    network, stack = NETWORKS_BY_NAME[NETWORK], STACKS_BY_NAME[STACK]
    plan = one_cell(site.name, [network], stack, LOADS, 1, browser)
    seen: list[Seen] = []
    stop = Lab.stop

    def looked_at(lab: Lab) -> LabSummary:
        seen.append(_cost(lab))
        return stop(lab)

    alarms = 0
    Lab.stop = looked_at  # type: ignore[method-assign]
    try:
        for trial in expand(plan, [site.of_plan()]):
            record = run_trial(trial, str(site.path)).record
            alarms += bool(record["host"]["suspended"])
    finally:
        Lab.stop = stop  # type: ignore[method-assign]
    return seen, alarms


def _cost(lab: Lab) -> Seen:
    init = Path(f"/proc/{lab.ready.init_pid}")
    (thread,) = [
        each for each in (init / "task").iterdir() if (each / "comm").read_text().strip() == THREAD
    ]
    used_ms = int((thread / "schedstat").read_text().split()[0]) / 1e6
    ticks = int((init / "stat").read_text().rpartition(")")[2].split()[19])
    up_s = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return used_ms, up_s


@contextmanager
def _hogs() -> Iterator[None]:
    spin = [sys.executable, "-c", "for _ in iter(int, 1): pass"]
    hogs = [subprocess.Popen(spin) for _ in range(HOGS)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


if __name__ == "__main__":
    main()
