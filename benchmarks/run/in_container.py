"""Load times in a container beside those on the host.

`python -m benchmarks.run.in_container ROUNDS COMMAND`

COMMAND is what `eyelevel` is called by in a container, as one argument: 'podman run --rm ...
eyelevel:0.1.0'. Each round loads one site once here and once there, with one seed, in an order that
is drawn. Prints a line a load, then medians of the loads that were ok and the ratio of the medians,
with a bootstrap interval of 95 %. Needs a quiet machine: in a busy one, the interval is wide.
"""

import json
import random
import shlex
import statistics
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.shared.command import machine, parser_of
from benchmarks.shared.ratio import ratio_of_medians

LOAD = ("load", "agency", "--network", "dsl", "--stack", "quic", "--host-wait", "2", "--json")
HOST, CONTAINER = "host", "container"
TIMEOUT_S = 300.0


def main(rounds: int, commands: dict[str, Sequence[str]], seed: int = 1) -> None:
    """Load, and print."""
    print(machine())
    order = random.Random(seed)  # no secret
    times: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(1, rounds + 1):
        for name in order.sample(list(commands), len(commands)):
            outcome, time_ms = _loaded([*commands[name], *LOAD, "--seed", str(number)])
            print(f"{number:3} {name:9} {outcome:9} {time_ms or float('nan'):8.1f} ms", flush=True)
            if time_ms is not None:
                times[name].append(time_ms)
    print(machine())
    for name, values in times.items():
        median = statistics.median(values) if values else float("nan")
        print(f"{name:9} {len(values)} of {rounds} ok, median Page Load Time {median:.1f} ms")
    if all(times.values()):
        found = ratio_of_medians(times[HOST], times[CONTAINER], order)
        print("container / host: {:.3f} ({:.3f} to {:.3f})".format(*found))


def _loaded(command: Sequence[str]) -> tuple[str, float | None]:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    try:
        (load,) = json.loads(done.stdout)
    except ValueError:
        return done.stderr.strip().split("\n")[-1] or "no answer", None
    return load["outcome"], load["page_load_time_ms"] if load["outcome"] == "ok" else None


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("rounds", type=int)
    parser.add_argument("command", type=shlex.split, help="eyelevel in a container")
    arguments = parser.parse_args()
    here = [sys.executable, "-m", "eyelevel"]
    main(arguments.rounds, {HOST: here, CONTAINER: arguments.command})
