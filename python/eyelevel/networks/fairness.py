"""How transfers share a bottleneck; without numpy, which a shell need not wait for."""

import math
from collections.abc import Mapping, Sequence
from typing import Any


def jain_index(goodputs: Sequence[float]) -> float | None:
    """Jain's fairness index: (sum x)^2 / (n sum x^2), from 1/n (one has all) to 1 (all alike).

    Jain, Chiu, Hawe 1984 (DEC-TR-301). None without a flow, or where none moved anything.
    """
    squares = math.fsum(x * x for x in goodputs)
    return math.fsum(goodputs) ** 2 / (len(goodputs) * squares) if squares > 0 else None


def fairness(flows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Jain's index of the lab's flows of each direction: only these share a queue."""
    directions = dict.fromkeys(flow["direction"] for flow in flows)
    return {
        direction: jain_index([f["goodput_bit_s"] for f in flows if f["direction"] == direction])
        for direction in directions
    }
