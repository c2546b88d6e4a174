"""A low-orbit satellite link's course."""

import math

import numpy as np
from numpy.typing import NDArray

from eyelevel.traces.generator import Generator

RECONFIGURATION_MS = 15_000
TICK_MS = 100
GAP_MS_MAX = 150
INTERVAL_DEVIATION = 0.35
TICK_DEVIATION = 0.10
TICK_MEMORY = 0.8


def satellite(random: Generator, duration_ms: int) -> NDArray[np.float64]:
    """Relative rate in each millisecond.

    Mohan et al. 2024 (A multifaceted look at Starlink performance, WWW, arXiv:2310.09242): links
    are configured anew all over the network every 15 s, and throughput changes from one such
    interval to the next more than within one. Here each interval has a rate of its own, log-normal
    with a deviation of 0.35; within it the rate varies every 100 ms, log-normal with 0.10 and a
    correlation of 0.8 from one to the next; and nothing leaves for up to 150 ms when an interval
    begins. The structure is the paper's, the deviations and the gap are this project's choice and
    not fitted.
    """
    # A trace begins somewhere within an interval.
    first_ms = int(random.uniform() * RECONFIGURATION_MS / TICK_MS) * TICK_MS
    intervals = (first_ms + duration_ms) // RECONFIGURATION_MS + 1
    levels = np.exp(INTERVAL_DEVIATION * random.normals(intervals))
    ticks = math.ceil(duration_ms / TICK_MS)
    moves = random.normals(ticks) * TICK_DEVIATION * math.sqrt(1 - TICK_MEMORY**2)
    gaps_ms = (random.uniforms(intervals) * GAP_MS_MAX).astype(int)
    noise, within = 0.0, np.empty(ticks)
    for tick in range(ticks):
        noise = TICK_MEMORY * noise + moves[tick]
        within[tick] = noise
    at_ms = first_ms + np.arange(duration_ms)
    interval = at_ms // RECONFIGURATION_MS
    rates = levels[interval] * np.exp(np.repeat(within, TICK_MS)[:duration_ms])
    in_gap = (interval > 0) & (at_ms % RECONFIGURATION_MS < gaps_ms[interval])
    return np.where(in_gap, 0.0, rates)
