"""First flights: the pure part of bulk transfers."""

import numpy as np
import pytest

from eyelevel.analysis.pathlog import DirectionLog
from eyelevel.calibration.validation.bulk import first_flight

NONE = np.empty(0)


def log_of(times_ms: list[float], sizes: list[int]) -> DirectionLog:
    none_of_sizes = np.empty(0, dtype=np.int64)
    return DirectionLog(
        name="down",
        arrived_s=np.array(times_ms) / 1e3,
        arrived_bytes=np.array(sizes),
        departed_s=NONE,
        departed_bytes=none_of_sizes,
        delay_ms=NONE,
        dropped_s=NONE,
        drops={},
        capacity=None,
    )


def test_a_first_flight_begins_after_the_handshake_and_leaves_out_acknowledgements() -> None:
    handshake = [0.0, 100.0, 100.1]
    flight = [200.0, *(200.0 + step for step in range(32))]
    later = [310.0 + step for step in range(40)]
    sizes = [60, 1500, 820, 52, *[1500] * 72]
    packets, span_ms = first_flight(log_of([*handshake, *flight, *later], sizes), 100.0)
    assert packets == 32
    assert span_ms == pytest.approx(31.0)


def test_a_page_that_does_not_fill_the_window_has_no_span() -> None:
    times = [0.0, *(100.0 + step for step in range(12))]
    assert first_flight(log_of(times, [1500] * 13), 100.0) == (12, None)
