"""Models of a link's rate over time for synthetic traces, with a pinned generator.

Each model returns a relative rate per millisecond; `synth` converts it to opportunities.

Generate synthetic traces: a model gives the rate over time, and opportunities follow it.
"""

import hashlib
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from eyelevel.base.errors import TraceError
from eyelevel.plan.traces.mahimahi import OPPORTUNITIES_MAX, OPPORTUNITY_BITS
from eyelevel.plan.traces.spec import SYNTH_MODELS, SYNTH_VERSION, SynthSpec

CELLULAR_TICK_MS = 20
# As a share of the maximum rate: 200 of 1000 packets per second.
BROWNIAN_SHARE_PER_ROOT_S = 0.2
OUTAGE_ESCAPES_PER_S = 1.0

RECONFIGURATION_MS = 15_000
SATELLITE_TICK_MS = 100
GAP_MS_MAX = 150
INTERVAL_DEVIATION = 0.35
SATELLITE_TICK_DEVIATION = 0.10
SATELLITE_TICK_MEMORY = 0.8

# 802.11n, 20 MHz, one stream, long guard interval (IEEE 802.11-2016, table 19-27), in Mbit/s.
MCS_MBIT_S = (6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0)
COHERENCE_MS = 100
STAY = 0.6
TURN_MS = 4
STATIONS_MAX = 4
STATIONS_HOLD_MS = 2000.0


class Generator:
    """Random numbers that are determined by a seed and a name.

    Only the raw 64-bit output of PCG64 is used, which numpy promises to keep (NEP 19). Its
    distributions may change between versions and are therefore implemented here.
    """

    def __init__(self, seed: int, name: str) -> None:
        """Seed an independent stream for the name."""
        digest = hashlib.sha256(f"{seed}\x1f{name}".encode()).digest()
        self._bits = np.random.PCG64(int.from_bytes(digest[:16], "big"))

    def uniforms(self, count: int) -> NDArray[np.float64]:
        """Return uniform numbers in [0, 1), with 53 random bits."""
        raw = np.asarray(self._bits.random_raw(count), dtype=np.uint64)
        return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def uniform(self) -> float:
        """Return one number as from `uniforms`."""
        return float(self.uniforms(1)[0])

    def normals(self, count: int) -> NDArray[np.float64]:
        """Return standard normal numbers, by Box and Muller 1958."""
        first, second = self.uniforms(count), self.uniforms(count)
        return np.sqrt(-2.0 * np.log1p(-first)) * np.cos(2.0 * np.pi * second)

    def exponential(self, mean: float) -> float:
        """Return one exponentially distributed number."""
        return float(-mean * np.log1p(-self.uniform()))


def cellular(random: Generator, duration_ms: int) -> NDArray[np.float64]:
    """Return the relative rate, 0 to 1, of a cellular link per millisecond, after Sprout's model.

    Winstein, Sivaraman and Balakrishnan 2013 (Stochastic forecasts achieve high throughput and low
    delay over cellular networks, NSDI, section 3.1): packets leave in a Poisson process whose rate
    follows a Brownian motion (200 packets per second per root second below 1000) and, once at zero,
    stays there for a time t with the probability exp(-t): outages are sticky. This project's
    choices where the paper leaves them open: the motion is reflected at its upper end, begins in
    the middle, and leaves an outage by its step of one second. (With a step of one tick it fell
    back at once and was 0 for 28 % of the time; six recordings are so for 1 % to 11 %.)
    """
    steps = math.ceil(duration_ms / CELLULAR_TICK_MS)
    tick_s = CELLULAR_TICK_MS / 1000
    moves = random.normals(steps) * BROWNIAN_SHARE_PER_ROOT_S * math.sqrt(tick_s)
    escapes = random.uniforms(steps) < 1 - math.exp(-OUTAGE_ESCAPES_PER_S * tick_s)
    rate, rates = 0.5, np.empty(steps)
    for step in range(steps):
        if rate > 0 or escapes[step]:
            rate += moves[step] if rate > 0 else abs(moves[step]) / math.sqrt(tick_s)
            rate = 2.0 - rate if rate > 1 else max(rate, 0.0)
        rates[step] = rate
    return np.repeat(rates, CELLULAR_TICK_MS)[:duration_ms]


def satellite(random: Generator, duration_ms: int) -> NDArray[np.float64]:
    """Return the relative rate of a low-orbit satellite link per millisecond.

    Mohan et al. 2024 (A multifaceted look at Starlink performance, WWW, arXiv:2310.09242): links
    are reconfigured network-wide every 15 s, and throughput changes more from one such interval to
    the next than within one. Here each interval has a log-normal rate with a deviation of 0.35;
    within it the rate varies every 100 ms, log-normal with a deviation of 0.10 and a correlation of
    0.8 between neighbours; and nothing leaves for up to 150 ms when an interval begins. The
    structure is the paper's; the deviations and the gap are this project's choice and not fitted.
    """
    # The trace begins at a random point within an interval.
    first_ms = int(random.uniform() * RECONFIGURATION_MS / SATELLITE_TICK_MS) * SATELLITE_TICK_MS
    intervals = (first_ms + duration_ms) // RECONFIGURATION_MS + 1
    levels = np.exp(INTERVAL_DEVIATION * random.normals(intervals))
    ticks = math.ceil(duration_ms / SATELLITE_TICK_MS)
    moves = (
        random.normals(ticks) * SATELLITE_TICK_DEVIATION * math.sqrt(1 - SATELLITE_TICK_MEMORY**2)
    )
    gaps_ms = (random.uniforms(intervals) * GAP_MS_MAX).astype(int)
    noise, within = 0.0, np.empty(ticks)
    for tick in range(ticks):
        noise = SATELLITE_TICK_MEMORY * noise + moves[tick]
        within[tick] = noise
    at_ms = first_ms + np.arange(duration_ms)
    interval = at_ms // RECONFIGURATION_MS
    rates = levels[interval] * np.exp(np.repeat(within, SATELLITE_TICK_MS)[:duration_ms])
    in_gap = (interval > 0) & (at_ms % RECONFIGURATION_MS < gaps_ms[interval])
    return np.where(in_gap, 0.0, rates)


def wifi(random: Generator, duration_ms: int) -> NDArray[np.float64]:
    """Return the relative rate of a Wi-Fi link per millisecond.

    Two processes shape it. Channel: a finite-state Markov chain that moves to neighbouring states
    only (Wang and Moayeri 1995, IEEE Transactions on Vehicular Technology 44), here over the eight
    modulations of 802.11n with a step every 100 ms. Contention: stations with data get the medium
    equally often (Bianchi 2000, IEEE JSAC 18), here in turns of 4 ms, the time of one aggregate,
    drawn at random among this station and up to three others, whose number holds for 2 s on
    average. So packets leave in bursts, and silences grow with the number of stations. The
    constants of both processes are this project's choice and not fitted.
    """
    looks = duration_ms // COHERENCE_MS + 1
    state, states = len(MCS_MBIT_S) - 2, np.empty(looks, dtype=int)
    draws = random.uniforms(looks)
    for look in range(looks):
        if draws[look] >= STAY:
            step = 1 if draws[look] < (1 + STAY) / 2 else -1
            state = min(max(state + step, 0), len(MCS_MBIT_S) - 1)
        states[look] = state
    rates = np.repeat(np.array(MCS_MBIT_S)[states], COHERENCE_MS)[:duration_ms]

    turns = duration_ms // TURN_MS + 1
    chances = random.uniforms(turns)
    mine = np.empty(turns, dtype=bool)
    left_ms, stations = 0.0, 1
    for turn in range(turns):
        if left_ms <= 0:
            left_ms = random.exponential(STATIONS_HOLD_MS)
            stations = 1 + int(random.uniform() * STATIONS_MAX)
        mine[turn] = chances[turn] * stations < 1
        left_ms -= TURN_MS
    shared: NDArray[np.float64] = rates * np.repeat(mine, TURN_MS)[:duration_ms]
    return shared


DURATION_S_MAX = 24 * 3600

Course = Callable[[Generator, int], NDArray[np.float64]]

# A model's rate (relative, per millisecond), and whether its packets follow a Poisson
# process with this rate or are spaced evenly.
_COURSES: dict[str, tuple[Course, bool]] = {
    "cellular": (cellular, True),
    "satellite": (satellite, False),
    "wifi": (wifi, False),
}


def synthesise(spec: SynthSpec) -> NDArray[np.int64]:
    """Return the opportunities in milliseconds; equal settings give equal numbers on every machine.

    The mean is `rate_bit_s_mean` to half an opportunity. Raises `TraceError` for invalid settings.
    """
    course, at_random = _check(spec)
    random = Generator(spec.seed, spec.model)
    duration_ms = spec.duration_s * 1000
    intensity = course(random, duration_ms)
    total = spec.rate_bit_s_mean * spec.duration_s / OPPORTUNITY_BITS
    count = round(total)
    if not 1 <= count <= OPPORTUNITIES_MAX or not intensity.sum() > 0:
        raise TraceError(
            f"a made trace would have {count} opportunities; choose a rate and a duration that "
            f"give 1 to {OPPORTUNITIES_MAX}"
        )
    gathered = np.concatenate(([0.0], np.cumsum(intensity)))
    if at_random:
        # Given their number, the events of a Poisson process are uniformly distributed.
        wanted = np.sort(1.0 - random.uniforms(count)) * gathered[-1]
    else:
        wanted = np.arange(1, count + 1) / count * gathered[-1]
    # The millisecond at whose end the bytes have accumulated.
    values = np.searchsorted(gathered, wanted * (1 - 1e-12), side="left").astype(np.int64)
    opportunities_ms: NDArray[np.int64] = np.clip(values, 1, duration_ms)
    opportunities_ms[-1] = duration_ms
    return opportunities_ms


def _check(spec: SynthSpec) -> tuple[Course, bool]:
    if spec.model not in _COURSES:
        known = ", ".join(SYNTH_MODELS)
        raise TraceError(f"there is no model `{spec.model}` of a trace; known: {known}")
    if spec.version != SYNTH_VERSION:
        raise TraceError(
            f"the model `{spec.model}` of version {spec.version} is not the one in this version "
            f"({SYNTH_VERSION}); use the version of eyelevel that made the record"
        )
    if not 1 <= spec.duration_s <= DURATION_S_MAX:
        raise TraceError(f"a made trace of {spec.duration_s} s; choose 1 s to {DURATION_S_MAX} s")
    return _COURSES[spec.model]
