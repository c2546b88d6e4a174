"""What the servers have ready leaves in full segments: the kernel counts its window in segments."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from eyelevel.analysis.pathlog import read_log
from eyelevel.calibration.validation.bulk import bulk_site, transfer
from eyelevel.plan.networks.network import Network
from eyelevel.plan.stack_presets import STACKS_BY_NAME

pytestmark = pytest.mark.alone

RTT_MS = 100.0
FAR = Network("far", 1_000_000_000, 1_000_000_000, RTT_MS, 1000.0)
PACKET_BYTES = 1500
SEGMENT_BYTES = 1448
EMPTY_BYTES = PACKET_BYTES - SEGMENT_BYTES
"""A packet that only acknowledges, as follows what a late client sends between flights."""

RECORD_OVERHEAD_SHARE_MAX = 0.03
"""22 bytes for each TLS record of 4 kB, HTTP/2's 9 for each frame of 8 kB, and the head."""


def flights(tmp_path: Path, stack: str, body_bytes: int) -> list[list[int]]:
    """Bytes of the servers' segments from the first full one of the response on, by round trip."""
    site, url = bulk_site(tmp_path, body_bytes)
    logs = tmp_path / "logs"
    logs.mkdir()
    transfer(
        FAR,
        STACKS_BY_NAME[stack],
        site,
        url,
        seed=1,
        bytes_max=body_bytes,
        duration_ms=10_000,
        logs=logs,
    )
    log = read_log((logs / "down.log").read_bytes(), "down.log")
    segments = log.arrived_bytes > EMPTY_BYTES
    every = by_round_trip(log.arrived_s[segments] * 1e3, log.arrived_bytes[segments])
    handshake = next(at for at, sizes in enumerate(every) if PACKET_BYTES in sizes)
    response = [sizes for sizes in every[handshake + 1 :] if PACKET_BYTES in sizes]
    first = response[0].index(PACKET_BYTES)
    return [response[0][first:], *response[1:]]


def by_round_trip(at_ms: NDArray[np.float64], sizes: NDArray[np.int64]) -> list[list[int]]:
    """The sizes between silences. Full packets less than a round trip behind a flight's first are
    of that flight, whatever held the servers up: nothing of it can have been acknowledged."""
    cuts = np.flatnonzero(np.diff(at_ms) > 0.4 * RTT_MS) + 1
    found: list[list[int]] = []
    began_ms = -RTT_MS
    for times, part in zip(np.split(at_ms, cuts), np.split(sizes, cuts), strict=True):
        if PACKET_BYTES in part and times[0] < began_ms + RTT_MS:
            found[-1] += part.tolist()
        else:
            began_ms = times[0]
            found.append(part.tolist())
    return found


@pytest.mark.parametrize("stack", ["tcp", "http1"])
def test_a_page_of_ten_kilobytes_takes_one_window_of_ten_segments(
    tmp_path: Path, labs: None, stack: str
) -> None:
    body_bytes = 10_000
    found = flights(tmp_path, stack, body_bytes)
    assert len(found) == 1, f"it took more than one round trip: {found}"
    *full, _last = found[0]
    assert set(full) == {PACKET_BYTES}
    assert len(full) <= body_bytes * (1 + RECORD_OVERHEAD_SHARE_MAX) // SEGMENT_BYTES


def test_every_segment_of_a_longer_response_but_its_last_is_full(
    tmp_path: Path, labs: None
) -> None:
    found = flights(tmp_path, "tcp", 60_000)
    *full, _last = [size for sizes in found for size in sizes]
    assert set(full) == {PACKET_BYTES}, found
    assert len(full) <= 60_000 * (1 + RECORD_OVERHEAD_SHARE_MAX) // SEGMENT_BYTES
