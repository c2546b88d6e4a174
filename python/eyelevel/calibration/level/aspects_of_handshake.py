"""Aspects of the handshake, and of the servers' own time."""

from eyelevel.calibration.level import settings_text as said
from eyelevel.calibration.level.aspect import PAGES, Aspect, Measure
from eyelevel.calibration.level.classes import Bound
from eyelevel.plan.stacks import Stack


def _chain(s: Stack) -> str:
    """Return `certificate_key` and `certificate_chain_bytes` in words."""
    if not s.over_tls:
        return "none"
    size = s.certificate_chain_bytes
    named = {None: "not padded", "recorded": "as large as recorded"}
    size_text = f"{size:,} bytes" if isinstance(size, int) else named[size]
    return f"{s.certificate_key.upper()}, {size_text}"


def _tls_version(s: Stack) -> str:
    """Return `tls_version` in words."""
    return "no TLS" if not s.over_tls else f"TLS {s.tls_version}"


@said.of_our_servers
def _session_tickets(s: Stack) -> str:
    """Return `session_tickets` in words; by default they are as the visit needs them."""
    given = s.session_tickets
    return {None: "as the visit needs", True: "given out", False: "none"}[given]


@said.of_our_servers
def _early_data(s: Stack) -> str:
    """Return `early_data` in words."""
    return "early data" if s.early_data else "no early data"


OF_HANDSHAKE: tuple[Aspect, ...] = (
    Aspect(
        "handshake",
        what="from the first packet to a connection that takes a request",
        measure=Measure(
            "connect_ms",
            ("bulk on far",),
            "ms",
            "own client",
            margin=10.0,
            bound=Bound("inherent", -200.0, -200.0),
            because="one round trip less, RFC 9001 4.1",
        ),
    ),
    Aspect(
        "certificate chain",
        _chain,
        ("certificate_key", "certificate_chain_bytes"),
        what="bytes of the certificates that the client got",
        measure=Measure(
            "certificate_bytes",
            ("bulk on far",),
            "bytes",
            "own client",
            margin=16.0,
            none_of=said.no_tls,
        ),
    ),
    Aspect(
        "bytes of a handshake",
        what="that the servers sent until it was complete, of the page's connection",
        measure=Measure(
            "handshake_bytes",
            PAGES,
            "bytes",
            "servers' events",
            margin=100.0,
            # One padded datagram at most, and headers and tags of eight packets.
            bound=Bound("inherent", 0.0, 1600.0),
            because="datagrams with an Initial packet are padded to 1200 bytes, RFC 9000 14.1",
            none_of=said.no_tls,
        ),
    ),
    Aspect(
        "cipher and key exchange",
        _tls_version,
        ("tls_version",),
        what="as the TLS sessions say",
        measure=Measure(
            "cipher", PAGES, "", "servers' events", compared="label", none_of=said.no_tls
        ),
    ),
    Aspect(
        "session tickets",
        _session_tickets,
        ("session_tickets",),
        what="tickets that the client got",
        measure=Measure("tickets", ("bulk on far",), "", "own client", compared="count"),
        switch={"session_tickets": True},
    ),
    Aspect(
        "resumed sessions",
        _early_data,
        ("early_data",),
        what="connections that began with a ticket",
        measure=Measure("resumed", PAGES, "", "servers' events", compared="count"),
    ),
    Aspect(
        "server time",
        what="from a request's head to its response's, inside the server, median",
        measure=Measure("server_ms", PAGES, "ms", "servers' events", margin=1.0),
    ),
)
