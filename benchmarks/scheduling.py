"""How long do requests wait inside the servers, and is it alike over HTTP/2 and HTTP/3?

`python benchmarks/scheduling.py [ROUNDS] [--json]` loads a shipped page in the browser over an
unlimited path, `tcp+` and `quic` in turn, and prints quantiles of each record's `server_us`: from
the moment at which a request's head was read to the one at which the response's head was handed
to HTTP/2 or HTTP/3. Waiting for the network's room (congestion window, pacing) comes after that.
"""

import json
import sys

from eyelevel.networks import Network
from eyelevel.plan import STACKS_BY_NAME, expand, one_cell
from eyelevel.run import open_site, run_trial

SITE = "agency"
STACKS = ("tcp+", "quic")
UNLIMITED = Network("unlimited", 1_000_000_000, 1_000_000_000, 2.0, 100.0)
ASKED_US_P99 = 200


def main() -> None:
    """Measure and print."""
    as_json = "--json" in sys.argv
    numbers = [argument for argument in sys.argv[1:] if argument != "--json"]
    rounds = int(numbers[0]) if numbers else 5
    site = open_site(SITE)
    waits_us: dict[str, list[int]] = {name: [] for name in STACKS}
    outcomes: dict[str, list[str]] = {name: [] for name in STACKS}
    for seed in range(rounds):
        for name in STACKS if seed % 2 else reversed(STACKS):
            plan = one_cell(site.name, [UNLIMITED], STACKS_BY_NAME[name], 1, seed)
            (trial,) = expand(plan, [site.of_plan()])
            record = run_trial(trial, str(site.path.resolve())).record
            outcomes[name].append(record["outcome"])
            waits_us[name] += [each["server_us"] for each in record["requests"]]
    rows = [
        {
            "stack": name,
            "requests": len(waits_us[name]),
            "outcomes": {each: outcomes[name].count(each) for each in sorted(set(outcomes[name]))},
            **{f"server_us_p{share}": quantile(waits_us[name], share) for share in (50, 90, 99)},
        }
        for name in STACKS
    ]
    if as_json:
        print(json.dumps({"site": SITE, "asked_us_p99": ASKED_US_P99, "stacks": rows}, indent=2))
        return
    print(f"asked: at most {ASKED_US_P99} us at the 99th percentile, alike over both")
    print("stack  requests   p50 us   p90 us   p99 us  outcomes")
    for row in rows:
        waits = "".join(f"{row[f'server_us_p{share}']:9.0f}" for share in (50, 90, 99))
        print(f"{row['stack']:6} {row['requests']:8}{waits}  {row['outcomes']}")


def quantile(values: list[int], percent: int) -> int:
    """The least value that so many percent of all do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


if __name__ == "__main__":
    main()
