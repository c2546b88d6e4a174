"""Do requests leave the browser alike over all stacks?

Loads the page that `eyelevel validate level` has made over `tcp+` and `quic` in turn, or over what
`--stacks` names, seven times each, over 200 ms at 100 Mbit/s and over `da2gc`, and reads each
load's network log: how long requests were in Chromium's scheduler, by their priority. Told apart is
what of it came before the host's first response: until then a browser that was not there before
cannot know the host, and TCP's handshake takes a round trip more. Asked: after it alike within 5 ms
in the median and 20 ms at the 90th percentile.

`--images own|coalesced` puts the images on a host of their own, or on one that shares the page's
connection; `--site` loads another recording; `--network` is a preset or a table as in a plan;
`--visitor known` and `--runs` say the rest; `--mutation` adds a stack with one setting changed
(`quic:alt_svc=false`). Prints one row a network, stack and priority; `--json` all numbers.
"""

import argparse
import json
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shared.command import parser_of
from eyelevel.browser.chromium.request_scheduling import (
    PRIORITIES,
    Scheduling,
    read_network_log,
    request_scheduling,
)
from eyelevel.calibration.measuring.runs import write_generated_page
from eyelevel.load.trial import run_trial
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import Site, Trial, expand
from eyelevel.sites.recorded import open_site
from eyelevel.store.unused_connections import count_unused_connections

RUNS = 7
RETRIES = 3
NETWORKS = ("far", "da2gc")
FAR = """{ name = "far", rate_down_bit_s = 100_000_000, rate_up_bit_s = 100_000_000, \
rtt_ms_min = 200, queue_ms = 200 }"""
MEDIAN_MS_MAX, P90_MS_MAX = 5.0, 20.0


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="eyelevel-") as folder:
        made = Path(folder) / "level.wacz"
        site = arguments.site or str(write_generated_page(made, arguments.images))
        rows = measure(site, arguments)
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return
    print(
        "ms from REQUEST_ALIVE to URL_REQUEST_START_JOB, median: all; until the host's connection"
    )
    print(
        "(connect), from there until its first response (answer); after it, with its p90; how far"
    )
    print(f"that is from the first stack's (asked: {MEDIAN_MS_MAX:g} and {P90_MS_MAX:g} ms)")
    heads = "   all connect answer  after    p90   apart     p90"
    print(f"{'network':8} {'stack':18} {'priority':9}    n held{heads}")
    for row in rows:
        print(_line(row))


def measure(site: str, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Return one row per network, stack and priority."""
    recorded = open_site(site)
    plan = parse_plan(_plan(recorded.name, arguments), "request_scheduling.toml")
    trials = expand(plan, [Site(recorded.name, recorded.of_plan().digest)])
    found: dict[tuple[str, str], list[tuple[Scheduling, dict[str, Any]]]] = defaultdict(list)
    for trial in trials:
        found[trial.network, trial.stack].append(_load(trial, str(recorded.path.resolve())))
    rows: list[dict[str, Any]] = []
    stacks = [stack.name for stack in plan.stacks]
    for network in [each.name for each in plan.networks]:
        first: dict[str, dict[str, Any]] = {}
        for stack in stacks:
            for row in _rows(network, stack, found[network, stack]):
                row |= _apart(row, first.setdefault(row["priority"], row))
                rows.append(row)
    return rows


def _load(trial: Trial, archive: str) -> tuple[Scheduling, dict[str, Any]]:
    """One load that counts; a starved one is done again, a few times at most."""
    for _ in range(1 + RETRIES):
        result = run_trial(trial, archive)
        if result.record["outcome"] == "ok":
            break
    record = result.record
    urls = {each["url"].partition("#")[0] for each in record["objects"]}
    since_ms = record["browser"]["navigation_start_ns"] / 1e6 - 1
    log = read_network_log(result.logs["netlog.json.gz"])
    return request_scheduling(log, urls, since_ms), record


def _rows(
    network: str, stack: str, loads: Sequence[tuple[Scheduling, dict[str, Any]]]
) -> Iterable[dict[str, Any]]:
    counted = [pair for pair in loads if pair[1]["outcome"] == "ok"]
    shared = {
        "network": network,
        "stack": stack,
        "loads": len(counted),
        "page_load_time_ms": _median(
            record["navigation"]["page_load_time_ms"] for _, record in counted
        ),
        "in_flight_max": _median(read.in_flight_max().get("", 0) for read, _ in counted),
        "unused_connections": _median(
            found.unused for _, record in counted if (found := count_unused_connections(record))
        ),
        "connection_types": sorted(
            {str(record["browser"]["effective_connection_type"]) for _, record in counted}
        ),
    }
    for priority in reversed(PRIORITIES):
        own = [
            (waits, each)
            for read, _ in counted
            for each in read.requests
            if each.priority == priority and (waits := read.waits_ms(each)) is not None
        ]
        if not own:
            continue
        after = [waits.after_ms for waits, _ in own]
        yield {
            **shared,
            "priority": priority,
            "requests": len(own),
            "held": sum(each.trigger is not None for _, each in own),
            "triggers": sorted({each.trigger for _, each in own if each.trigger}),
            "scheduler_ms_median": float(np.median([sum(waits) for waits, _ in own])),
            "connecting_ms_median": float(np.median([each.connecting_ms for each, _ in own])),
            "answering_ms_median": float(np.median([each.answering_ms for each, _ in own])),
            "after_ms_median": float(np.median(after)),
            "after_ms_p90": float(np.percentile(after, 90)),
        }


def _apart(row: dict[str, Any], first: dict[str, Any]) -> dict[str, float]:
    return {
        f"apart_ms_{which}": row[f"after_ms_{which}"] - first[f"after_ms_{which}"]
        for which in ("median", "p90")
    }


def _line(row: dict[str, Any]) -> str:
    numbers = "".join(
        f"{row[key]:{width}.1f}"
        for key, width in (
            ("scheduler_ms_median", 6),
            ("connecting_ms_median", 8),
            ("answering_ms_median", 7),
            ("after_ms_median", 7),
            ("after_ms_p90", 7),
            ("apart_ms_median", 8),
            ("apart_ms_p90", 8),
        )
    )
    return (
        f"{row['network']:8} {row['stack']:18} {row['priority']:9}{row['requests']:5}"
        f"{row['held']:5}{numbers}  {row['loads']} loads, PLT {row['page_load_time_ms'] or 0:.0f}, "
        f"{row['unused_connections'] or 0:.0f} unused, {row['in_flight_max']:.0f} at once, "
        f"{','.join(row['connection_types'])} {','.join(row['triggers'])}"
    )


def _median(values: Iterable[float]) -> float | None:
    known = list(values)
    return statistics.median(known) if known else None


def _plan(site: str, arguments: argparse.Namespace) -> str:
    networks = [
        FAR if name == "far" else name if name.startswith("{") else f'"{name}"'
        for name in arguments.network or NETWORKS
    ]
    stacks = [f'"{name}"' for name in arguments.stacks.split(",")]
    for mutation in arguments.mutation or ():
        base, _, change = mutation.partition(":")
        key, _, value = change.partition("=")
        stacks.append(f'{{ name = "{base} {key}", base = "{base}", {key} = {value} }}')
    return (
        f'sites = ["{site}"]\nnetworks = [{", ".join(networks)}]\nstacks = [{", ".join(stacks)}]\n'
        f'reference = "{arguments.stacks.split(",")[0]}"\nblocks = {arguments.runs}\n'
        f'visitor = "{arguments.visitor}"\nseed = {arguments.seed}\n'
        "capture = false\nnetlog = true\n"
    )


def _arguments() -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--network", action="append", help=f"default: {', '.join(NETWORKS)}")
    parser.add_argument("--stacks", default="tcp+,quic")
    parser.add_argument("--mutation", action="append")
    parser.add_argument("--site")
    parser.add_argument("--images", choices=("page", "own", "coalesced"), default="page")
    parser.add_argument("--visitor", default="first")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
