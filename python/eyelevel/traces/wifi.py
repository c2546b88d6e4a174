"""A Wi-Fi link's course."""

import numpy as np
from numpy.typing import NDArray

from eyelevel.traces.generator import Generator

# 802.11n, 20 MHz, one stream, long guard interval (IEEE 802.11-2016, table 19-27), in Mbit/s.
MCS_MBIT_S = (6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0)
COHERENCE_MS = 100
STAY = 0.6
TURN_MS = 4
STATIONS_MAX = 4
STATIONS_HOLD_MS = 2000.0


def wifi(random: Generator, duration_ms: int) -> NDArray[np.float64]:
    """Relative rate in each millisecond.

    Two things shape it. The channel: a finite-state Markov chain that moves to a neighbouring state
    only (Wang and Moayeri 1995, IEEE Transactions on Vehicular Technology 44), here over the eight
    modulations of 802.11n with a look every 100 ms. Contention: stations that have something to
    send get the medium equally often (Bianchi 2000, IEEE JSAC 18), here in turns of 4 ms, the time
    of one aggregate, drawn at random among this station and up to three others, whose number holds
    for 2 s in the mean. So packets leave in bursts, and silences grow with the number of stations.
    The chain's and the contention's constants are this project's choice and not fitted.
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
    return rates * np.repeat(mine, TURN_MS)[:duration_ms]
