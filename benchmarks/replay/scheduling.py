"""Measure how long requests wait inside the servers, and whether HTTP/2 and HTTP/3 are alike in
that.

`python -m benchmarks.replay.scheduling [ROUNDS] [SITE ...]` loads shipped pages in the browser over
an unlimited path (or the preset), `tcp+` and `quic` in turn, and prints quantiles of each record's
`server_us`: from the moment at which a request's head was read to the one at which the response's
head was handed to HTTP/2 or HTTP/3. Waiting for the network's room (congestion window, pacing)
comes after that.

`--both`: each load once with real-time priority for the servers and once without, in an order that
changes from round to round, and what that changed of the page load time, in pairs of neighbours.
"""

import argparse
import json
from functools import partial
from itertools import product
from typing import Any

from benchmarks.shared.command import parser_of
from eyelevel.analysis.stats.paired import hodges_lehmann, median
from eyelevel.lab.client import LabConfig
from eyelevel.load import trial
from eyelevel.load.trial import run_trial
from eyelevel.plan.networks.network import Network
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.trials import expand
from eyelevel.sites.recorded import open_site

SITES = ("agency", "blog", "gallery")
STACKS = ("tcp+", "quic")
UNLIMITED = Network("unlimited", 1_000_000_000, 1_000_000_000, 2.0, 100.0)
ASKED_US_P99 = 200


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    rows, changes = measure(arguments)
    if arguments.json:
        found = {"asked_us_p99": ASKED_US_P99, "stacks": rows, "page_load_time_changes": changes}
        print(json.dumps(found, indent=2))
        return
    print(f"asked: at most {ASKED_US_P99} us at the 99th percentile, alike over both")
    print("stack  priority   requests   p50 us   p90 us   p99 us  most us  outcomes")
    for row in rows:
        waits = "".join(f"{row[f'server_us_p{share}']:9.0f}" for share in (50, 90, 99, 100))
        print(f"{row['stack']:6} {row['priority']:9}{row['requests']:10}{waits}  {row['outcomes']}")
    for change in changes:
        print(
            f"page load time over {change['stack']} with real-time priority: "
            f"{change['ms']:+.1f} ms ({_signed(change['ms_low'])} to {_signed(change['ms_high'])}, "
            f"{change['pairs']} pairs, median without {change['median_without_ms']:.0f} ms)"
        )


def _signed(value: float | None) -> str:
    return "unknown" if value is None else f"{value:+.1f}"


def measure(arguments: argparse.Namespace) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return quantiles of each stack and priority; changes of the page load time by the
    priority."""
    network = NETWORKS_BY_NAME[arguments.network] if arguments.network else UNLIMITED
    priorities = (True, False) if arguments.both else (True,)
    cells = list(product(STACKS, priorities))
    records: dict[tuple[str, bool], list[dict[str, Any]]] = {cell: [] for cell in cells}
    for seed, name in product(range(arguments.rounds), arguments.sites):
        for cell in cells if seed % 2 else reversed(cells):
            records[cell].append(_load(name, network, *cell, seed))
    rows = [_quantiles(stack, priority, records[stack, priority]) for stack, priority in cells]
    changes = [
        _change(stack, records[stack, True], records[stack, False])
        for stack in STACKS
        if arguments.both
    ]
    return rows, changes


def _load(name: str, network: Network, stack: str, realtime: bool, seed: int) -> dict[str, Any]:
    # No plan can ask for it: servers at normal priority are worse in every respect but this one.
    trial.LabConfig = partial(LabConfig, realtime_servers=realtime)
    site = open_site(name)
    plan = one_cell(site.name, [network], STACKS_BY_NAME[stack], 1, seed)
    (load,) = expand(plan, [site.of_plan()])
    record = run_trial(load, str(site.path.resolve())).record
    in_force = record["host"].get("server_realtime_priority")
    if in_force is not None and in_force != realtime:
        raise SystemExit("real-time priority is refused here: run as root, or see eyelevel doctor")
    return record


def _quantiles(stack: str, realtime: bool, records: list[dict[str, Any]]) -> dict[str, Any]:
    waits_us = sorted(each["server_us"] for record in records for each in record["requests"])
    outcomes = [record["outcome"] for record in records]
    return {
        "stack": stack,
        "priority": "real-time" if realtime else "normal",
        "requests": len(waits_us),
        "outcomes": {each: outcomes.count(each) for each in sorted(set(outcomes))},
        **{f"server_us_p{share}": quantile(waits_us, share) for share in (50, 90, 99, 100)},
    }


def _change(
    stack: str, with_it: list[dict[str, Any]], without: list[dict[str, Any]]
) -> dict[str, Any]:
    pairs = [
        tuple(record["navigation"]["page_load_time_ms"] for record in pair)
        for pair in zip(with_it, without, strict=True)
        if all(record["outcome"] == "ok" for record in pair)
    ]
    after, before = zip(*pairs, strict=True)
    estimate = hodges_lehmann(after, before)
    return {
        "stack": stack,
        "pairs": len(pairs),
        "ms": estimate.value,
        "ms_low": estimate.low,
        "ms_high": estimate.high,
        "median_without_ms": median(before),
    }


def quantile(ordered: list[int], percent: int) -> int:
    """The least value that so many percent of all do not exceed."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def _arguments() -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("rounds", nargs="?", type=int, default=5)
    parser.add_argument("sites", nargs="*", default=list(SITES))
    parser.add_argument(
        "--network", choices=sorted(NETWORKS_BY_NAME), metavar="NAME", help="else unlimited"
    )
    parser.add_argument("--both", action="store_true", help="also with servers at normal priority")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
