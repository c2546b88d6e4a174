"""Measure how much loads of one site differ on a quiet machine."""

import itertools
import os
import statistics
import sys
from collections.abc import Iterator

from benchmarks.browser.figure import Figure, load
from eyelevel.analysis.metrics.catalogue import metrics_of

LOADS = int(os.environ.get("LOADS", 30))
"""Environment variables: fewer loads for a look, other sites and stacks."""
ATTEMPTS_MAX = 2 * LOADS
STACKS = tuple(os.environ.get("STACKS", "tcp+ quic").split())
SITES = tuple(os.environ.get("SITES", "agency").split())
NETWORK = "lte"
ASKED = {"page_load_time_ms": "<= 3.3", "speed_index_ms": "<= 5"}
PUBLISHED = {"page_load_time_ms": "Das: 2.5 replayed, 13 live"}


def spread() -> Iterator[Figure]:
    """The coefficient of variation over the loads that count; others are loaded again."""
    for site, stack in itertools.product(SITES, STACKS):
        found: list[dict[str, float | None]] = []
        attempts = 0
        while len(found) < LOADS and attempts < ATTEMPTS_MAX:
            attempts += 1
            result = load(site, NETWORK, stack, attempts)
            if result.record["outcome"] == "ok":
                found.append(metrics_of(result.record, result.frames))
        left_out = attempts - len(found)
        print(
            f"{site}, {stack}: {len(found)} loads, {left_out} more did not count", file=sys.stderr
        )
        for name, asked in ASKED.items():
            values = [each[name] or 0.0 for each in found]
            percent = 100 * statistics.stdev(values) / statistics.mean(values)
            what = f"coefficient of variation, {site}, {NETWORK}, {stack}, {name}, %"
            yield Figure(what, asked, percent, browsertime=PUBLISHED.get(name, ""))
