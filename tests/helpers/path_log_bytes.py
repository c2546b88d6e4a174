"""A small log for tests."""

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from eyelevel.analysis.pathlog import ARRIVAL, DROP, RECORD, RELEASE, SERVED

MS = 1_000_000
START_NS = 5_000_000_000
RATE = [{"stage": "rate", "rate_bit_s": 12_000_000}]


def own(records: Iterable[tuple[int, ...]], stages: Any = RATE, **changes: Any) -> bytes:
    """The log of one direction; a record: at_ns since the start, then as spec/path-log.md."""
    head = {
        "format": "eyelevel-path-log",
        "version": 1,
        "direction": "down",
        "stages": stages,
        "start_ns": START_NS,
        "record_bytes": 32,
        "drop_reasons": ["queue-full", "queue-head", "active-queue", "loss"],
    } | changes
    rows = [(START_NS + at, p, value, size, kind, reason, stage)
            for at, p, value, size, kind, reason, stage in records]  # fmt: skip
    return json.dumps(head).encode() + b"\n" + np.array(rows, dtype=RECORD).tobytes()


# Three packets come at 0 ms; two are sent in 1 ms each, the third is dropped.
THREE = [
    (0, 0, 0, 1500, ARRIVAL, 0, 0),
    (0, 1, 0, 1500, ARRIVAL, 0, 0),
    (0, 2, 0, 1500, ARRIVAL, 0, 0),
    (0, 2, 0, 1500, DROP, 0, 0),
    (1 * MS, 0, 1 * MS, 1500, SERVED, 0, 0),
    (1 * MS, 0, 20_000, 1500, RELEASE, 0, 0),
    (2 * MS, 1, 2 * MS, 1500, SERVED, 0, 0),
    (2 * MS, 1, 40_000, 1500, RELEASE, 0, 0),
]
