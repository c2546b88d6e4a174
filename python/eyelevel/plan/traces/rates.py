"""Rates over time, and their conversion to and from opportunities."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelevel.base.errors import TraceError
from eyelevel.plan.traces.mahimahi import OPPORTUNITIES_MAX, OPPORTUNITY_BITS

_PIECE = 1 << 18
"""Opportunities per piece, which bounds the memory needed besides the trace itself."""


@dataclass(frozen=True)
class RateSeries:
    """A series of rates: `mbit_s[i]` from `at_ms[i]` to `at_ms[i + 1]`.

    `at_ms` has one more element.
    """

    at_ms: NDArray[np.float64]
    mbit_s: NDArray[np.float64]


def opportunities_of(series: RateSeries, name: str) -> NDArray[np.int64]:
    """Convert rates to a trace: an opportunity whenever 1500 bytes have accumulated.

    No opportunity is earlier than the bytes that it carries. Their number is the series' total,
    rounded; they are spread evenly over it, and the last one is at the series' end, since the last
    line defines a trace's length. Raises `TraceError` if there is not even one.
    """
    bits, count, duration_ms = _count_bits(series, name)
    values = np.empty(count, np.int64)
    for start in range(0, count, _PIECE):
        numbers = np.arange(start + 1, min(start + _PIECE, count) + 1)
        wanted = np.minimum(numbers * (bits[-1] / count), bits[-1])
        # Find the interval in which so many bits are reached; its rate is above 0. Search only the
        # intervals of this piece, which fit the processor's cache.
        first, last = np.searchsorted(bits, wanted[[0, -1]], side="left")
        piece = np.searchsorted(bits[first : last + 1], wanted, side="left") + (first - 1)
        at_ms = series.at_ms[piece] + (wanted - bits[piece]) / (series.mbit_s[piece] * 1000)
        # Subtract a millionth, so that binary rounding moves no opportunity by a millisecond.
        values[start : start + _PIECE] = np.ceil(at_ms - series.at_ms[0] - 1e-6)
    values[-1] = duration_ms
    return np.minimum(values, duration_ms, out=values)


def text_bytes(series: RateSeries, name: str) -> int:
    """Return the approximate size of `opportunities_of` as text, bytes, without computing it.

    Raises `TraceError` as that does.
    """
    bits, count, duration_ms = _count_bits(series, name)
    tens = 10 ** np.arange(1, len(str(duration_ms)))
    # Each line has a digit and a newline, those after 9 ms one more, and so on.
    before = np.interp(tens - 1, series.at_ms - series.at_ms[0], bits) * (count / bits[-1])
    return round(2 * count + float(np.sum(count - before)))


def _count_bits(series: RateSeries, name: str) -> tuple[NDArray[np.float64], int, int]:
    """Return the bits sent up to each of `at_ms`, the opportunities, and the length, ms."""
    bits = np.concatenate(([0.0], np.cumsum(np.diff(series.at_ms) * series.mbit_s * 1000)))
    count = round(bits[-1] / OPPORTUNITY_BITS)
    duration_ms = int(np.ceil(series.at_ms[-1] - series.at_ms[0]))
    if count < 1 or duration_ms < 1:
        raise TraceError(
            f"{name}: all of it carries less than one packet of 1500 bytes; check the units"
        )
    if count > OPPORTUNITIES_MAX:
        raise TraceError(
            f"{name}: {count} opportunities, more than {OPPORTUNITIES_MAX}; shorten it"
        )
    return bits, count, duration_ms


def rates_of(opportunities_ms: NDArray[np.int64], bin_ms: int) -> RateSeries:
    """Return the trace's rate in bins of `bin_ms`; the last one may be shorter.

    An opportunity on a bin's upper edge belongs to the bin, since it carries the bytes accumulated
    there.
    """
    duration_ms = int(opportunities_ms[-1])
    edges = np.append(np.arange(0, duration_ms, bin_ms), duration_ms).astype(np.float64)
    index = np.searchsorted(edges, opportunities_ms, side="left") - 1
    counts = np.bincount(np.maximum(index, 0), minlength=len(edges) - 1)
    return RateSeries(edges, counts * OPPORTUNITY_BITS / (np.diff(edges) * 1000))
