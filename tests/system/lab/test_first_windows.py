"""What a client's TCP offers at first is what QUIC's does, and a smaller window shows."""

import platform
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eyelevel.calibration.validation.bulk import Bulk, bulk_site, transfer
from eyelevel.load.wrong_stack import offers_large_windows, wrong_first_window
from eyelevel.plan.networks.network import Network
from eyelevel.plan.stack_presets import STACKS_BY_NAME

FAR = Network("far", 1_000_000_000, 1_000_000_000, 100.0, 1000.0)
BODY_BYTES = 400_000
INITIAL_WINDOW_PACKETS = 64
"""More than a window of 64 kB lets out: 45 to 50 segments."""
SMALL_WINDOW_BYTES = 65_536

pytestmark = [
    pytest.mark.alone,
    pytest.mark.usefixtures("labs"),
    pytest.mark.skipif(
        not offers_large_windows(platform.release()),
        reason=f"Linux {platform.release()} offers 64 kB at first at most",
    ),
]


def moved(folder: Path, stack: str, **changes: Any) -> Bulk:
    site, url = bulk_site(folder, BODY_BYTES)
    wide = replace(STACKS_BY_NAME[stack], initial_window_packets=INITIAL_WINDOW_PACKETS, **changes)
    return transfer(FAR, wide, site, url, seed=1, bytes_max=BODY_BYTES, duration_ms=10_000)


def test_tuned_tcp_offers_what_quic_does_and_is_not_kept_back(tmp_path: Path) -> None:
    tcp, quic = moved(tmp_path, "tcp+"), moved(tmp_path, "quic")
    offered = [each.in_force["receive_window_bytes"] for each in (tcp, quic)]
    # The kernel rounds down to whole segments and to its scale.
    assert offered[0] == pytest.approx(offered[1], rel=0.001), offered
    assert wrong_first_window(STACKS_BY_NAME["tcp+"], tcp.in_force) == ""
    for each in (tcp, quic):
        assert each.in_force["receive_window_limited_ms"] == 0.0
        # QUIC's head shares the first packet with the handshake's end, which does not count.
        assert each.first_flight_packets >= INITIAL_WINDOW_PACKETS - 1


def test_a_small_first_window_shows_in_the_record_and_in_the_flight(tmp_path: Path) -> None:
    found = moved(tmp_path, "tcp+", receive_window_bytes=SMALL_WINDOW_BYTES)
    in_force = found.in_force
    assert in_force["receive_window_bytes"] <= SMALL_WINDOW_BYTES
    assert wrong_first_window(STACKS_BY_NAME["tcp+"], in_force, platform.release())
    # Six windows of 64 kB: at least a round trip of each but the first is spent waiting for it.
    assert in_force["receive_window_limited_ms"] > FAR.rtt_ms_min
    assert in_force["first_flight_packets"] * 1448 <= SMALL_WINDOW_BYTES + 5 * 1448
