"""A cellular link's course, after the model behind Sprout."""

import math

import numpy as np
from numpy.typing import NDArray

from eyelevel.traces.generator import Generator

TICK_MS = 20
# Of the largest rate, in a second: 200 packets a second of at most 1000.
BROWNIAN_SHARE_PER_ROOT_S = 0.2
OUTAGE_ESCAPES_PER_S = 1.0


def cellular(random: Generator, duration_ms: int) -> NDArray[np.float64]:
    """Relative rate in each millisecond, 0 to 1.

    Winstein, Sivaraman and Balakrishnan 2013 (Stochastic forecasts achieve high throughput and low
    delay over cellular networks, NSDI, section 3.1): packets leave in a Poisson process whose rate
    walks in Brownian motion (200 packets a second per root second below 1000), and which, once it
    is at zero, stays there with the chance exp(-t) a time t: outages are sticky. What the paper
    leaves open is this project's choice: the walk is reflected at its upper end, begins in the
    middle, and leaves an outage by what it walks in a second. (By one step, it fell back at once
    and stood still 28 % of the time; the six recordings that were at hand do so 1 % to 11 %.)
    """
    steps = math.ceil(duration_ms / TICK_MS)
    tick_s = TICK_MS / 1000
    moves = random.normals(steps) * BROWNIAN_SHARE_PER_ROOT_S * math.sqrt(tick_s)
    escapes = random.uniforms(steps) < 1 - math.exp(-OUTAGE_ESCAPES_PER_S * tick_s)
    rate, rates = 0.5, np.empty(steps)
    for step in range(steps):
        if rate > 0 or escapes[step]:
            rate += moves[step] if rate > 0 else abs(moves[step]) / math.sqrt(tick_s)
            rate = 2.0 - rate if rate > 1 else max(rate, 0.0)
        rates[step] = rate
    return np.repeat(rates, TICK_MS)[:duration_ms]
