"""Measure what the runner takes of each trial besides the load itself, as `eyelevel run` runs it.

A trial's own wall time (`host.wall_ms`: lab, browser, load, its quiet second, teardown) is in its
record; what a run takes beyond the sum of those is the runner's: keeping pictures, judging,
writing records, choosing the next trial, the first effects after each repetition. Of the first
trial on; reading the plan, the machine's description and the report are once a run and left out.
Pictures are coded while the browser ends: what that costs the teardown is in the last column, all
that a trial takes beyond its page's load.
"""

import os
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.shared.command import machine, parser_of
from eyelevel.plan.file.parse import parse_plan
from eyelevel.run.study.loop import PEEK_TIME_SHARE_MAX, Execution, run_trials
from eyelevel.run.study.prepare import prepare
from eyelevel.run.study.progress import Progress
from eyelevel.run.study.stopping import live_effects, stopping_rule
from eyelevel.sites.recorded import open_site
from eyelevel.store.directory import read_trial

REPETITIONS = int(os.environ.get("REPETITIONS", 6))
"""The environment variable: fewer, for a look."""
SITES = tuple(os.environ.get("SITES", "plain agency").split())
ASKED_MS = 50


def main() -> None:
    """Run a plan for each site and print a line each."""
    print(machine())
    print(
        "site     loads   asked, ms   a trial's median       mean   looks beside, at most   all, ms"
    )
    for site in SITES:
        with tempfile.TemporaryDirectory() as folder:
            print(cost(site, Path(folder)), flush=True)


def cost(site: str, directory: Path) -> str:
    """One row: the mean of all the runner takes, and of what parts."""
    text = f'sites = ["{site}"]\nnetworks = ["dsl"]\nstacks = ["tcp+", "quic"]\n'
    plan = parse_plan(text + f'reference = "tcp+"\nblocks = {REPETITIONS}\n', "plan.toml")
    opened = open_site(site)
    trials = prepare(plan, [opened], directory, resume=False)
    began_s: list[float] = []

    def note(progress: Progress) -> None:
        if len(began_s) == progress.done < len(trials):  # a trial begins
            began_s.append(time.monotonic())

    looked_ms: dict[int, float] = {}
    look = live_effects(plan, directory, peek=True)
    assert look is not None

    def timed_look() -> str:
        start_s = time.monotonic()
        said = look()
        looked_ms[len(began_s)] = (time.monotonic() - start_s) * 1e3
        return said

    archives = {opened.name: str(opened.path)}
    rule = stopping_rule(plan, directory)
    run_trials(trials, archives, directory, note, rule, Execution(), timed_look)
    ended_s = time.monotonic()
    records = [read_trial(directory, each.hash).record for each in trials]
    own_ms = [record["host"]["wall_ms"] for record in records]
    all_ms = [(b - a) * 1e3 for a, b in zip(began_s, [*began_s[1:], ended_s], strict=True)]
    # A load that was tried again is two loads, and its record has the time of one; looks are told
    # apart, since a short run has few of them and a long one no more than their share.
    beside = [
        every - own - looked_ms.get(number, 0.0)
        for number, (every, own, record) in enumerate(zip(all_ms, own_ms, records, strict=True), 1)
        if not record.get("retried")
    ]
    mean, middle = statistics.mean(beside), statistics.median(beside)
    looks = PEEK_TIME_SHARE_MAX * statistics.mean(all_ms)
    pages = [record["navigation"] or {} for record in records]
    page_ms = [page.get("page_load_time_ms") or 0.0 for page in pages]
    whole = statistics.median(every - page for every, page in zip(all_ms, page_ms, strict=True))
    figures = f"{ASKED_MS:11} {middle:18.1f} {mean:10.1f} {looks:23.1f} {whole:9.0f}"
    return f"{site:8} {len(beside):5} {figures}"


if __name__ == "__main__":
    parser_of(__doc__).parse_args()
    main()
