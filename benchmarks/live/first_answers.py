"""Measure what servers take longer for their first answers, and whether it matters how many
connections ask.

    python -m benchmarks.live.first_answers DIR [--rounds 12]

A made Internet (nginx and Caddy behind an emulated path of 20 ms; needs root) is started anew, and
`curl` asks through the recorder's proxy, over HTTP/2, for a page of nginx and four pictures of
Caddy: twice, over a connection a request or over one a server. Prints JSON: of the first and the
second recording and either way the times from request to first byte beyond the path's, in ms,
median and 90th percentile.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

from benchmarks.live.think_times import AT_ONCE, RTT_MS, emulated_internet, recorded_ms, summary
from eyelevel.lab.binary import find_binary

CONNECTIONS = {"a connection a request": ("--http2", AT_ONCE), "one a server": ("--http2",)}


def main() -> None:
    """All rounds, both ways in turns."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("directory", type=Path)
    arguments.add_argument("--rounds", type=int, default=12)
    given = arguments.parse_args()
    folder = given.directory.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    excess_ms: dict[str, list[float]] = defaultdict(list)
    for _ in range(given.rounds):
        for connections, how in CONNECTIONS.items():
            with emulated_internet(folder, RTT_MS, is_cold=True) as internet:
                for recording in ("first", "second"):
                    found = recorded_ms(internet, find_binary(), folder, *how)
                    excess_ms[f"{recording}, {connections}"] += [ms - RTT_MS for ms in found]
    print(json.dumps({name: summary(each) for name, each in excess_ms.items()}, indent=2))


if __name__ == "__main__":
    main()
