import json

import numpy as np
import pytest

from eyelevel.analysis.pathlog import ARRIVAL, DROP, LOST, RECORD, RELEASE, fates_of
from eyelevel.base.errors import PathLogError

HEAD = {
    "format": "eyelevel-path-log",
    "version": 1,
    "direction": "down",
    "stages": [{"stage": "loss", "probability": 0.5}],
    "seed": 1,
    "start_ns": 1000,
    "record_bytes": 32,
    "drop_reasons": ["queue-full", "loss"],
    "device": "tun",
}


def log(*rows):
    records = np.zeros(len(rows), dtype=RECORD)
    for record, (kind, packet, at_ns) in zip(records, rows, strict=True):
        record["kind"], record["packet"], record["at_ns"] = kind, packet, at_ns
    return json.dumps(HEAD).encode() + b"\n" + records.tobytes()


def test_each_packet_has_its_delay_or_is_lost():
    content = log(
        (ARRIVAL, 0, 2000), (ARRIVAL, 1, 3000), (DROP, 1, 3000), (ARRIVAL, 2, 4000),
        (RELEASE, 0, 2_502_000), (RELEASE, 2, 4000), (RELEASE, 2, 9000), (ARRIVAL, 3, 5000),
    )  # fmt: skip
    # The fourth was still inside at the end; of the third's copies the first counts.
    assert fates_of(content, "down.log") == [2.5, None, 0.0]


def test_a_log_with_gaps_and_a_foreign_file_are_refused():
    with pytest.raises(PathLogError, match="records are missing"):
        fates_of(log((ARRIVAL, 0, 2000), (LOST, 0, 2000)), "down.log")
    with pytest.raises(PathLogError, match="x"):
        fates_of(b"what is this\n", "x.log")
