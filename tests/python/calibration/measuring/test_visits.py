"""What a run of the level counts: the measured load alone."""

import gzip
import json
from typing import Any

import numpy as np
from sample_record import sample_object

from eyelevel.analysis.pathlog import Arrivals
from eyelevel.calibration.level.generated_page import URL
from eyelevel.calibration.measuring.runs import _of_load

TYPES = ("REQUEST_ALIVE", "RESOURCE_SCHEDULER_REQUEST_STARTED", "URL_REQUEST_START_JOB")
CONSTANTS = {
    "logEventTypes": {name: number for number, name in enumerate(TYPES)},
    "logEventPhase": {"PHASE_NONE": 0, "PHASE_BEGIN": 1, "PHASE_END": 2},
    "logSourceType": {"URL_REQUEST": 1},
}
NAVIGATION_MS = 1000
MS = 1_000_000


def request(source: int, alive_ms: int, held_ms: int) -> list[dict[str, Any]]:
    """An image, held back where it waited."""

    def event(name: str, phase: int, at_ms: int, **params: str) -> dict[str, Any]:
        return {
            "type": TYPES.index(name),
            "phase": phase,
            "time": str(at_ms),
            "source": {"id": source, "type": 1},
            "params": params,
        }

    started_ms = alive_ms + held_ms
    held = [event("RESOURCE_SCHEDULER_REQUEST_STARTED", 0, started_ms, trigger="X")]
    return [
        event("REQUEST_ALIVE", 1, alive_ms, url=URL, priority="LOWEST"),
        *(held if held_ms else []),
        event("URL_REQUEST_START_JOB", 1, started_ms),
        event("REQUEST_ALIVE", 2, started_ms + 10),
    ]


def packets(*at_ms: float, wire_bytes: int, ecn: int = 0) -> Arrivals:
    return Arrivals(
        at_ns=(np.array(at_ms) * MS).astype(np.int64),
        wire_bytes=np.full(len(at_ms), wire_bytes),
        ecn=np.full(len(at_ms), ecn),
        flow=np.zeros(len(at_ms), dtype=np.int64),
        released_ns=(np.array(at_ms) * MS).astype(np.int64),
        dropped=np.array([0, len(at_ms) - 1]),
    )


def joined(one: Arrivals, two: Arrivals) -> Arrivals:
    columns = ("at_ns", "wire_bytes", "ecn", "flow", "released_ns")
    both = {name: np.concatenate([getattr(one, name), getattr(two, name)]) for name in columns}
    dropped = np.concatenate([one.dropped, two.dropped + len(one.at_ns)])
    return Arrivals(**both, dropped=dropped)


def test_the_visit_before_the_measured_one_does_not_count() -> None:
    log = {
        "constants": CONSTANTS,
        "events": [*request(1, 100, 50), *request(2, NAVIGATION_MS, 0)],
    }
    record = {
        "requests": [],
        "connections": [],
        "objects": [sample_object(url=URL, response_ms=None)],
        "browser": {
            "navigation_start_ns": NAVIGATION_MS * MS,
            "effective_connection_type": "4g",
        },
    }
    network_log = gzip.compress(json.dumps(log).encode())
    before = packets(*range(100, 150), wire_bytes=1480, ecn=2)
    down = joined(before, packets(*range(1100, 1120), wire_bytes=1500))
    found = _of_load(record, network_log, down, down)
    assert (found["held_back"], found["in_flight_max"]) == (0.0, 1.0)
    assert (found["packet_bytes"], found["ecn_share_down"]) == (1500.0, 0.0)
    measured = down.since(NAVIGATION_MS * MS)
    assert len(measured.at_ns) == 20
    assert measured.dropped.tolist() == [0, 19]
