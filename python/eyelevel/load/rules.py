"""The rules by which a load is judged, from its own record; pure.

Each returns a sentence that says what is wrong, or nothing. Disturbance by other programs is judged
per block, when a run is read (`eyelevel.analysis.trials.starvation`).

A live page's error page is loaded well, and is not the page. No process of a load may have been
suspended, and the emulated path must have kept its times.

Nothing may come sooner than its path allows. A packet needs at least the path's minimum delay,
whatever machine and stack do, so each bound is a theorem and lateness never breaks it. A load that
breaks one was measured on another path, or from another time zero, than its record says. Visits
that may find a connection, a ticket or a cached document of an earlier visit are not judged.

Transport errors are told apart by the browser's names. What the network lost is a result of stack
and network. What a peer did wrong, which is a server of the lab, is the instrument's failure.
Names: Chromium's `net_error_list.h`, with those of `quic_error_codes.h` behind a dot, and Firefox's
`ErrorList.py`.
"""

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from eyelevel.analysis.trials.starvation import describe_suspension, disturbance
from eyelevel.base.json_types import JsonMapping
from eyelevel.lab.client import find_lost_outside
from eyelevel.load.coding import Observed
from eyelevel.store.outcomes import NOT_RECORDED

_HTTP_ERROR = 400


def error_page(objects: Iterable[JsonMapping]) -> str:
    """Return the first error among the main frame's documents, as a sentence; empty if none.

    If the browser does not report frames (Firefox), the page is the target of the first document's
    redirects.
    """
    for item in objects:
        if item["resource_type"] != "Document" or item["in_main_frame"] is False:
            continue
        status = item["status"] or 0
        if status >= _HTTP_ERROR:
            return f"the page answered {status}: {item['url']}"
        if item["in_main_frame"] is None and not 300 <= status < _HTTP_ERROR:
            break
    return ""


LATENESS_US_P99_MAX = 1000.0
"""Packets read or released later than this, at the 99th percentile, are late."""
LATENESS_MS_MAX = 5.0
LATENESS_RTT_SHARE_MAX = 0.05
"""The latest packet may be late by the larger of 5 ms and 5 % of the minimum RTT."""


def find_starvation(path: JsonMapping, host: JsonMapping, rtt_ms_min: float) -> str:
    """Return why a single transfer is invalid, by the lab's `path` and `host`; else ""."""
    return (
        describe_suspension(host)
        or late_packets(path, rtt_ms_min)
        or disturbance(0.0, host["cpu_steal_share"])
    )


def late_packets(path: JsonMapping, rtt_ms_min: float) -> str:
    """Return how the emulated path missed its times or lost packets; empty if it did neither."""
    bound_us = max(LATENESS_MS_MAX, LATENESS_RTT_SHARE_MAX * rtt_ms_min) * 1e3
    for direction in ("down", "up"):
        seen = path[direction]
        for what, late in (("released", seen), ("read", seen["arrival"])):
            if reason := _late(late, bound_us, direction, what):
                return reason
    lost = find_lost_outside(path)
    for end in path["lost_outside"]:
        if counts := [f"{source} {count}" for place, source, count in lost if place == end]:
            return f"packets were lost outside the emulated path at the {end}: {', '.join(counts)}"
    return ""


def _late(late: JsonMapping, bound_us: float, direction: str, what: str) -> str:
    """Return why packets count as late in one direction; empty if they do not."""
    p99, latest = late["lateness_us_p99"] or 0.0, late["lateness_us_max"] or 0.0
    if p99 > LATENESS_US_P99_MAX:
        return f"packets {direction} were {what} {p99 / 1e3:.1f} ms late at the 99th percentile"
    if latest > bound_us:
        return (
            f"a packet {direction} was {what} {latest / 1e3:.1f} ms late, "
            f"the bound is {bound_us / 1e3:.1f} ms"
        )
    return ""


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


_OF_NETWORK = (
    "net::ERR_CONNECTION_",
    "net::ERR_TIMED_OUT",
    "net::ERR_EMPTY_RESPONSE",
    # A handshake that never ended; over TCP it is a connection that timed out.
    "net::ERR_QUIC_HANDSHAKE_FAILED",
    # No answer to a PING: the one error of HTTP/2 that no frame of the peer causes.
    "net::ERR_HTTP2_PING_FAILED",
    "NS_ERROR_CONNECTION_REFUSED",
    "NS_ERROR_GENERATE_FAILURE",
    "NS_ERROR_NET_EMPTY_RESPONSE",
    "NS_ERROR_NET_INTERRUPT",
    "NS_ERROR_NET_PARTIAL_TRANSFER",
    "NS_ERROR_NET_RESET",
    "NS_ERROR_NET_TIMEOUT",
)
_ENDED = (
    "net::ERR_CONNECTION_ABORTED",
    "net::ERR_CONNECTION_CLOSED",
    "net::ERR_CONNECTION_RESET",
    "net::ERR_EMPTY_RESPONSE",
    "NS_ERROR_NET_EMPTY_RESPONSE",
    "NS_ERROR_NET_INTERRUPT",
    "NS_ERROR_NET_PARTIAL_TRANSFER",
    "NS_ERROR_NET_RESET",
)
"""Errors of a connection that ended, which do not show which end closed it."""
_QUIC_ERROR = "net::ERR_QUIC_PROTOCOL_ERROR"
# The ends of a QUIC connection whose packets no longer arrive. Every other code names a fault of
# the peer or the browser. A server that has timed out answers with a stateless reset.
_QUIC_OF_NETWORK = (
    "QUIC_NETWORK_IDLE_TIMEOUT",
    "QUIC_SILENT_IDLE_TIMEOUT",
    "QUIC_HANDSHAKE_TIMEOUT",
    "QUIC_TOO_MANY_RTOS",
    "QUIC_TIMEOUTS_WITH_OPEN_STREAMS",
    "QUIC_BAD_PACKET_LOSS_RATE",
    "QUIC_PUBLIC_RESET",
    "QUIC_CONNECTION_MIGRATION_",
)
_OF_PEER = (
    "net::ERR_HTTP2_",
    "net::ERR_QUIC_",
    "net::ERR_SSL_",
    "net::ERR_BAD_SSL_",
    # A body or a head that ends early: everything arrived that the server sent before it closed.
    "net::ERR_CONTENT_LENGTH_MISMATCH",
    "net::ERR_INCOMPLETE_CHUNKED_ENCODING",
    "net::ERR_INCOMPLETE_HTTP2_HEADERS",
    "net::ERR_RESPONSE_HEADERS_TRUNCATED",
    # The lab's devices disappeared, which no stage of a path causes.
    "net::ERR_NETWORK_CHANGED",
    "NS_ERROR_NET_",
)


def is_network_loss(error: str) -> bool:
    """Return whether the network lost an object or a page that failed with this error.

    A QUIC connection that ended without a code of the browser's has lost its path: a fault of a
    peer has a code.
    """
    if error.startswith(NOT_RECORDED):
        return False
    if error.startswith(_QUIC_ERROR):
        code = _code(error)
        return not code or code.startswith(_QUIC_OF_NETWORK)
    return error.startswith(_OF_NETWORK)


def broken_by_peer(error: str) -> bool:
    """Return whether the server, or the lab around it, caused this error."""
    return (
        error.startswith(_OF_PEER)
        and not is_network_loss(error)
        and not error.startswith(NOT_RECORDED)
    )


def server_fault(error: str, connections: Sequence[JsonMapping]) -> str:
    """Return the servers' own error if a connection ended and they may have ended it, else "".

    A path ends no connection, so an error that a server recorded takes precedence. Browsers do not
    report which of a load's connections an object came over.
    """
    if not error.startswith(_ENDED):
        return ""
    found = (each["in_force"].get("server_error") for each in connections)
    return next(filter(None, found), "")


def _code(error: str) -> str:
    """Return QUIC's code of `net::ERR_QUIC_PROTOCOL_ERROR.CODE (reason)`; empty: none."""
    return error.removeprefix(_QUIC_ERROR).removeprefix(".").split(" ")[0]
