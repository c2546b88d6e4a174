"""The law that a lab must obey: how many round trips pass before a page's first response."""

import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from eyelevel.browser import LoadSettings, load_page
from eyelevel.lab import Lab
from eyelevel.plan import Network

RTT_MS = 200.0
FAST_AND_FAR = Network("far", 1_000_000_000, 1_000_000_000, RTT_MS, 1000.0)
LOADS = 5
TOLERANCE_MS = 10.0


@pytest.mark.parametrize(
    ("stack", "http_version", "round_trips"),
    [("http1", "h1", 3), ("tcp+", "h2", 3), ("quic", "h3", 2)],
)
def test_first_response_takes_the_handshakes_round_trips(
    stack: str,
    http_version: str,
    round_trips: int,
    new_lab: Callable[..., Lab],
    small_site: Path,
) -> None:
    """TCP, TLS 1.3 and the request take one each; QUIC joins the first two (RFC 9001).

    They begin when the browser begins to connect: what it does from the navigation until then
    (3 to 10 ms here, 20 on a slow host) passes no packet and obeys no law.
    """
    seen_ms = []
    for seed in range(LOADS):
        with new_lab(stack, FAST_AND_FAR, small_site, seed=seed) as lab:
            raw = load_page(
                LoadSettings(
                    url=lab.ready.main_url or "",
                    http_version=http_version,
                    quic_origins=lab.ready.quic_origins(),
                    spki_sha256=lab.ready.spki_sha256,
                    command_prefix=lab.command_prefix,
                    capture="none",
                    quiet_s=0.05,
                )
            )
        assert raw.ended == "complete", raw.detail
        page = raw.objects[0]
        assert page.response_ms == pytest.approx(raw.navigation.time_to_first_byte_ms, abs=1.0)
        assert page.connect_ms is not None
        seen_ms.append(page.response_ms - page.connect_ms[0])
    assert statistics.median(seen_ms) == pytest.approx(round_trips * RTT_MS, abs=TOLERANCE_MS), (
        seen_ms
    )
