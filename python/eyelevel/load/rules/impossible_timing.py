"""Check that nothing in a load came sooner than its path allows; pure.

A packet needs at least the path's minimum delay, whatever machine and stack do, so each bound is a
theorem and lateness never breaks it. A load that violates one was measured on another path, or from
another time zero, than its record states. Visits that may use a connection, a ticket or a cached
document of an earlier visit are not judged.
"""

from urllib.parse import urlsplit

from eyelevel.base.json_types import JsonMapping
from eyelevel.load.observed import Observed

TOLERANCE_MS = 0.5
"""The tolerance: browsers round times, to 0.1 ms at the coarsest; packets are released in time or
later."""


def impossible_timing(load: Observed) -> str:
    """Return what came too early, as a sentence; empty if nothing did."""
    if load.browser.is_again or load.stack.early_data:
        return ""
    for connection in load.connections:
        if reason := _early_accept(load, connection) or _short_handshake(load, connection):
            return f"connection {connection['connection']} {reason}"
    return _early_first_byte(load)


def _early_accept(load: Observed, connection: JsonMapping) -> str:
    if load.navigation_start_ns is None:
        return ""
    accepted_ms = (connection["accepted_at_ns"] - load.navigation_start_ns) / 1e6
    rtt_ms = load.network.rtt_ms_min
    # Servers accept TCP with the third packet of its handshake, and QUIC with the first.
    path_ms = load.network.delay_up_ms_min + (0.0 if connection["protocol"] == "h3" else rtt_ms)
    if accepted_ms >= path_ms - TOLERANCE_MS:
        return ""
    if accepted_ms < 0:
        return f"was accepted {-accepted_ms:.1f} ms before the navigation started"
    return (
        f"was accepted {accepted_ms:.1f} ms after the navigation started, "
        f"which takes {path_ms:.1f} ms at least"
    )


def _short_handshake(load: Observed, connection: JsonMapping) -> str:
    """Return a server's handshake that was shorter than a round trip, as a sentence; else ""."""
    if connection["ready_at_ns"] is None or connection["scheme"] != "https":
        return ""
    handshake_ms = (connection["ready_at_ns"] - connection["accepted_at_ns"]) / 1e6
    if handshake_ms >= load.network.rtt_ms_min - TOLERANCE_MS:
        return ""
    return (
        f"finished its handshake {handshake_ms:.1f} ms after it was accepted, "
        f"less than the round trip of {load.network.rtt_ms_min:g} ms"
    )


def _early_first_byte(load: Observed) -> str:
    document = next(iter(load.objects), None)
    if document is None or document["from"] != "network" or document["response_ms"] is None:
        return ""
    round_trips = 1 + _handshake_round_trips(load, document["url"])
    path_ms = round_trips * load.network.rtt_ms_min
    if document["response_ms"] >= path_ms - TOLERANCE_MS:
        return ""
    return (
        f"the first byte of {document['url']} came {document['response_ms']:.1f} ms after the "
        f"navigation started, less than {round_trips} round trips, which take {path_ms:g} ms"
    )


def _handshake_round_trips(load: Observed, url: str) -> int:
    if urlsplit(url).scheme != "https" or load.stack.over_quic:
        return 1
    return 2  # TCP's and that of TLS 1.3, or of TLS 1.2 with false start
