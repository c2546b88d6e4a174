"""The bounds of the browser and its visual metrics, measured on this machine: `make bench-browser`.

Prints one line a figure: what was asked, the median with the least and the largest (of `capture` a
95 % interval), and what Browsertime 27.5 gave on the reference machine. Nothing is asserted;
`docs/benchmarks.md` keeps results with their machine. Needs a quiet machine. `cost` takes three
minutes, `spread` five; `capture` (150 interleaved pairs for each of two stacks) takes an hour and
runs only where it is named; `PAIRS=20` for a look.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator

from browser_capture import capture
from browser_cost import cost
from browser_figure import HEADING, Figure
from browser_peer import peer
from browser_spread import spread

from eyelevel.errors import ExpectedError

PARTS: dict[str, Callable[[], Iterator[Figure]]] = {
    "cost": cost,
    "spread": spread,
    "peer": peer,
    "capture": capture,
}
USUAL = ("cost", "spread", "peer")


def main() -> int:
    """Measure the parts that the arguments name, the usual ones without any."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    arguments = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores, kernel {os.uname().release}")
    print(HEADING)
    for name in arguments.parts or USUAL:
        try:
            for figure in PARTS[name]():
                print(figure.line(), flush=True)
        except ExpectedError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
