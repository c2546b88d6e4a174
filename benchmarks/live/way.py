"""Measure what the network path of a live load adds to a round trip.

    unshare --net python -m benchmarks.live.way [--rounds 5000]

In a network of its own (needs root) connections to a port at which nothing listens are refused
after one round trip: from this network itself, and through a live network's two namespaces, in
turns. Prints the medians and 99th percentiles of both in microseconds.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from eyelevel.lab.client import LiveNetwork

ADDRESS, PORT = "198.41.0.4", 9
BATCH = 100
PING = f"""
import errno, json, socket, time
took_us = []
for _ in range({BATCH}):
    with socket.socket() as tried:
        began_s = time.monotonic()
        assert tried.connect_ex(("{ADDRESS}", {PORT})) == errno.ECONNREFUSED
        took_us.append(1e6 * (time.monotonic() - began_s))
print(json.dumps(took_us))
"""


def main() -> None:
    """Both ways in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5000)
    rounds = parser.parse_args().rounds
    for words in (("link", "set", "lo", "up"), ("address", "add", f"{ADDRESS}/32", "dev", "lo")):
        subprocess.run(["ip", *words], check=True)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    took_us: dict[str, list[float]] = {"itself": [], "live": []}
    with LiveNetwork([ADDRESS]) as live:
        for _ in range(rounds // BATCH):
            for name, prefix in (("itself", ()), ("live", live.command_prefix)):
                command = [*prefix, sys.executable, "-c", PING]
                done = subprocess.run(command, capture_output=True, check=True)
                took_us[name] += json.loads(done.stdout)[1:]  # the first finds its neighbour
    for name, each in took_us.items():
        p99 = statistics.quantiles(each, n=100)[98]
        print(f"{name}: median {statistics.median(each):.1f} us, p99 {p99:.1f} us")


if __name__ == "__main__":
    main()
