"""A direction in bins of time, for charts and means."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from eyelevel.analysis.pathlog.direction import Capacity, DirectionLog

Values = NDArray[np.float64]

BINS_MAX = 200
"""The most bins, each wide enough that single packets do not show as noise."""

WIDTHS_S = tuple(digit * 10.0**power for power in range(-3, 5) for digit in (1, 2, 5))


@dataclass(frozen=True)
class Series:
    """The series of a direction by bins from `at_s` on: rates in Mbit/s, delays in ms, drops.

    Delays are not-a-number if nothing departed.
    """

    width_s: float
    at_s: Values
    capacity_mbit_s: Values | None
    arrived_mbit_s: Values
    departed_mbit_s: Values
    delay_ms_p50: Values
    delay_ms_max: Values
    dropped: NDArray[np.int64]


def series_of(log: DirectionLog) -> Series:
    """Return the log in bins of the first round width that gives at most BINS_MAX of them."""
    end_s = max(log.end_s, WIDTHS_S[0])
    width_s = next((w for w in WIDTHS_S if end_s / w <= BINS_MAX), WIDTHS_S[-1])
    edges: Values = (np.arange(int(end_s / width_s) + 2) * width_s).astype(np.float64)

    def rate(at_s: Values, size: NDArray[np.int64]) -> Values:
        bytes_by_bin: Values = np.histogram(at_s, edges, weights=size)[0]
        return bytes_by_bin * 8 / width_s / 1e6

    return Series(
        width_s=width_s,
        at_s=edges[:-1],
        capacity_mbit_s=(
            None
            if log.capacity is None
            else np.diff(capacity_bytes(log.capacity, edges)) * 8 / width_s / 1e6
        ),
        arrived_mbit_s=rate(log.arrived_s, log.arrived_bytes),
        departed_mbit_s=rate(log.departed_s, log.departed_bytes),
        delay_ms_p50=_by_bin(log, edges, lambda values: float(np.median(values))),
        delay_ms_max=_by_bin(log, edges, lambda values: float(values.max())),
        dropped=np.histogram(log.dropped_s, edges)[0],
    )


def capacity_bytes(capacity: Capacity, at_s: Values) -> Values:
    """Return the bytes that the link could have carried until each of `at_s`, which ascend."""
    if capacity.bytes is not None:
        order = np.argsort(capacity.at_s, kind="stable")
        gathered = np.concatenate(([0], np.cumsum(capacity.bytes[order])))
        return gathered[np.searchsorted(capacity.at_s[order], at_s, side="right")].astype(float)
    assert capacity.bit_s is not None
    starts, rates = capacity.at_s, capacity.bit_s / 8
    gathered = np.concatenate(([0.0], np.cumsum(np.diff(starts) * rates[:-1])))
    piece = np.maximum(np.searchsorted(starts, at_s, side="right") - 1, 0)
    return gathered[piece] + np.maximum(at_s - starts[piece], 0.0) * rates[piece]


def _by_bin(log: DirectionLog, edges: Values, what: Callable[[Values], float]) -> Values:
    values = np.full(len(edges) - 1, np.nan)
    if not len(log.departed_s):
        return values
    order = np.argsort(log.departed_s, kind="stable")
    delays = log.delay_ms[order]
    bounds = np.searchsorted(log.departed_s[order], edges)
    for index, (low, high) in enumerate(pairwise(bounds)):
        if high > low:
            values[index] = what(delays[low:high])
    return values
