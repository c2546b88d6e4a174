"""Describe a trace: its rate and its outages."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelevel.plan.traces.mahimahi import mean_rate_bit_s
from eyelevel.plan.traces.rates import rates_of

PERCENTILES = (5, 25, 50, 75, 95)

OUTAGE_MS = 1000
"""Minimum gap between two opportunities, ms, that counts as an outage: 1 s is the limit of
uninterrupted thought (Nielsen 1993, chapter 5.5).
"""

BIN_MS = 1000
"""Length of the bins whose rates the percentiles are taken over, ms."""


@dataclass(frozen=True)
class TraceInfo:
    """A trace in numbers.

    It counts as repeated: the gap across its end is a gap, too.
    """

    opportunities: int
    duration_ms: int
    rate_bit_s_mean: int
    bin_ms: int
    rate_bit_s_percentiles: dict[str, int]
    rate_bit_s_max: int
    outage_ms_min: int
    outages: int
    outage_ms_total: int
    gap_ms_max: int

    @property
    def outage_share(self) -> float:
        """Share of the time that is an outage, 0 to 1."""
        return self.outage_ms_total / self.duration_ms


def trace_info(
    opportunities_ms: NDArray[np.int64], bin_ms: int = BIN_MS, outage_ms_min: int = OUTAGE_MS
) -> TraceInfo:
    """Describe a trace; rates are over bins of `bin_ms`, without a shorter last one."""
    duration_ms = int(opportunities_ms[-1])
    bin_ms = min(bin_ms, duration_ms)
    series = rates_of(opportunities_ms, bin_ms)
    whole = np.diff(series.at_ms) == bin_ms
    rates = series.mbit_s[whole] * 1e6
    wrap = duration_ms - int(opportunities_ms[-1]) + int(opportunities_ms[0])
    gaps = np.append(np.diff(opportunities_ms), wrap)
    outages = gaps[gaps >= outage_ms_min]
    return TraceInfo(
        opportunities=len(opportunities_ms),
        duration_ms=duration_ms,
        rate_bit_s_mean=mean_rate_bit_s(opportunities_ms),
        bin_ms=bin_ms,
        rate_bit_s_percentiles={
            f"p{level}": round(float(np.percentile(rates, level))) for level in PERCENTILES
        },
        rate_bit_s_max=round(float(rates.max())),
        outage_ms_min=outage_ms_min,
        outages=len(outages),
        outage_ms_total=int(outages.sum()),
        gap_ms_max=int(gaps.max()),
    )
