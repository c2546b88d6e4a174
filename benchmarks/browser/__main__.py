"""The bounds of the browser and its visual metrics, measured on this machine: `make bench-browser`.

Prints one line a figure: what was asked, the median with the least and the largest (of `capture` a
95 % interval), and what Browsertime 27.5 gave on the reference machine. Nothing is asserted;
`benchmarks/results` keeps results with their machine. Needs a quiet machine. `cost` takes three
minutes, `spread` five, `peer` seven; `capture` (150 interleaved pairs for each of two stacks) takes
half an hour and runs only where it is named; `PAIRS=20` for a look.
"""

import sys
from collections.abc import Callable, Iterator

from benchmarks.browser.capture import capture
from benchmarks.browser.cost import cost
from benchmarks.browser.figure import HEADING, Figure
from benchmarks.browser.peer import peer
from benchmarks.browser.spread import spread
from benchmarks.shared.command import measure

PARTS: dict[str, Callable[[], Iterator[Figure]]] = {
    "cost": cost,
    "spread": spread,
    "peer": peer,
    "capture": capture,
}
USUAL = ("cost", "spread", "peer")


if __name__ == "__main__":
    sys.exit(measure(__doc__, HEADING, PARTS, USUAL))
