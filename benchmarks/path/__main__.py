"""The bounds of the emulated path, measured on this machine: `make bench-path`.

Prints one line a figure: what was asked, what was measured, and what Mahimahi 0.98 and rattan 0.1.1
gave on the reference machine when it was quiet. Nothing is asserted; `docs/benchmarks.md` keeps
results with their machine. Needs a quiet machine, iperf3 for the part `bulk`, and
measures Mahimahi beside where it is installed. Each part takes less than four minutes.
"""

import sys
from collections.abc import Callable, Iterator

from benchmarks.path.bulk import bulk
from benchmarks.path.figure import HEADING, Figure
from benchmarks.path.peers import peers
from benchmarks.path.release import exactness, ping, release
from benchmarks.path.start import idle, start
from benchmarks.shared.command import measure

PARTS: dict[str, Callable[[], Iterator[Figure]]] = {
    "release": release,
    "ping": ping,
    "bulk": bulk,
    "idle": idle,
    "start": start,
    "exactness": exactness,
    "peers": peers,
}


if __name__ == "__main__":
    sys.exit(measure(__doc__, HEADING, PARTS))
