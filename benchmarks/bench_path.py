"""The bounds of the emulated path, measured on this machine: `make bench-path`.

Prints one line a figure: what was asked, what was measured, and what Mahimahi 0.98 and rattan 0.1.1
gave on the reference machine when it was quiet. Nothing is asserted; `docs/benchmarks.md` keeps
results with their machine. Needs a quiet machine, iperf3 for the part `bulk`, and
measures Mahimahi beside where it is installed. Each part takes less than four minutes.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator

from path_bulk import bulk
from path_figure import HEADING, Figure
from path_peers import peers
from path_release import exactness, ping, release
from path_start import idle, start

from eyelevel.errors import ExpectedError

PARTS: dict[str, Callable[[], Iterator[Figure]]] = {
    "release": release,
    "ping": ping,
    "bulk": bulk,
    "idle": idle,
    "start": start,
    "exactness": exactness,
    "peers": peers,
}


def main() -> int:
    """Measure the parts that the arguments name, all of them without any."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    arguments = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores, kernel {os.uname().release}")
    print(HEADING)
    for name in arguments.parts or PARTS:
        try:
            for figure in PARTS[name]():
                print(figure.line(), flush=True)
        except ExpectedError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
