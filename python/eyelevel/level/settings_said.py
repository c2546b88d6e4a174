"""Settings of a stack in words. Each says what is in force, and nothing of what it brings."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from eyelevel.plan.stacks import congestion_control_said

Settings = Mapping[str, Any]
Says = Callable[[Settings], str]

ITS_OWN = "its own"
"""What somebody else's server decides, and nobody can read back
(docs/guides/external-server.md)."""


def of_our_servers(says: Says) -> Says:
    """Of a setting that only our servers have."""

    @wraps(says)
    def said(s: Settings) -> str:
        return ITS_OWN if s.get("server") else says(s)

    return said


def is_quic(s: Settings) -> bool:
    """Whether it is a stack over QUIC."""
    return bool(s["http_version"] == "h3")


def visit(s: Settings) -> str:
    """The browser's, which stacks of a plan may have each their own."""
    meant = {
        "repeat": "repeat: a second load, with TLS tickets",
        "warm": "warm: a second load, over open connections",
    }
    own = s.get("visit") or "first"
    return meant.get(own, str(own))


def alt_svc(s: Settings) -> str:
    """`alt_svc`, of HTTP/3 alone, and the visitor."""
    known = "servers known beforehand" if s.get("visitor") == "known" else "a first visitor"
    if is_quic(s) and s.get("server"):
        return f"{known}; the server names HTTP/3, or does not"
    if not is_quic(s) or s.get("alt_svc") is None:
        return known
    return f"{known}; responses {'name' if s['alt_svc'] else 'do not name'} HTTP/3"


def connection_type(s: Settings) -> str:
    """`effective_connection_type`, where a stack has its own."""
    own = s.get("effective_connection_type")
    return {None: "from the network", "network": "from the network"}.get(own, str(own))


def ecn(s: Settings) -> str:
    """`ecn`: of TCP the kernel's, whosever the server is."""
    if is_quic(s) and s.get("server"):
        return ITS_OWN
    return str(s.get("ecn") or "off")


@of_our_servers
def congestion_control(s: Settings) -> str:
    """`congestion_control`."""
    return congestion_control_said(s)


def server(s: Settings) -> str:
    """Whose."""
    own = s.get("server")
    if not own:
        return "eyelevel's"
    return f"somebody else's: {' '.join(own['command'])}; what it does is its own"


def no_priorities(s: Settings) -> str:
    """Why its responses have no order."""
    h1 = s["http_version"] == "h1"
    return "HTTP/1.1 has one response a connection at a time, and no priorities" if h1 else ""


def no_scheduler(s: Settings) -> str:
    """Why nothing waits below its scheduler."""
    h1 = s["http_version"] == "h1"
    return "HTTP/1.1 has one response a connection at a time, and no scheduler" if h1 else ""


def no_tls(s: Settings) -> str:
    """Why it has no handshake of TLS."""
    return "cleartext has no TLS" if s["tls_version"] == "none" else ""


def idle(s: Settings) -> str:
    """`slow_start_after_idle`."""
    return "yes" if s["slow_start_after_idle"] else "no"


@of_our_servers
def scheduler(s: Settings) -> str:
    """`priorities`."""
    if s["http_version"] == "h1":
        return "one response a connection"
    return "urgency, then order (RFC 9218)" if s["priorities"] else "all in turn"


@of_our_servers
def think_time(s: Settings) -> str:
    """`think_time`."""
    return s["think_time"] if isinstance(s["think_time"], str) else f"{s['think_time']:g} ms"


def receive_window(s: Settings) -> str:
    """`receive_window_bytes`, of TCP alone."""
    if is_quic(s):
        return "the browser's"
    size = s["receive_window_bytes"]
    return "the kernel's" if size is None else f"{size:,} bytes"


def names(s: Settings) -> str:
    """`coalescing`."""
    if s["tls_version"] == "none":
        return "none"
    return "as recorded" if s["coalescing"] else "one"


@of_our_servers
def header_tables(s: Settings) -> str:
    """`header_table_bytes`, and over QPACK `blocked_streams_max`."""
    if s["http_version"] == "h1":
        return "no table"
    size, blocked = s["header_table_bytes"], s.get("blocked_streams_max")
    tables = "its own tables" if size is None else f"tables of {size:,} bytes"
    return tables if blocked is None else f"{tables}, {blocked} streams may wait"


def initial_window(s: Settings) -> str:
    """`initial_window_packets`: of TCP the route's, whosever the server is."""
    if is_quic(s) and s.get("server"):
        return ITS_OWN
    return f"{s['initial_window_packets']} packets"


@of_our_servers
def pacing(s: Settings) -> str:
    """`pacing`, or BBR's own."""
    if s["congestion_control"] == "bbr":
        return "BBR's own rate"
    return "on" if s["pacing"] else "off"


def packet(s: Settings) -> str:
    """`quic_packet_bytes`."""
    if is_quic(s) and s.get("server"):
        return ITS_OWN
    return f"{s['quic_packet_bytes']:,} bytes of UDP" if is_quic(s) else "the kernel's"


@of_our_servers
def record(s: Settings) -> str:
    """`tls_record_bytes`."""
    if s["tls_version"] == "none":
        return "no TLS"
    return "a packet" if is_quic(s) else f"records of {s['tls_record_bytes']:,} bytes"


def chain(s: Settings) -> str:
    """`certificate_key` and `certificate_chain_bytes`."""
    if s["tls_version"] == "none":
        return "none"
    size = s["certificate_chain_bytes"]
    named = {None: "not padded", "recorded": "as large as recorded"}
    told = f"{size:,} bytes" if isinstance(size, int) else named[size]
    return f"{s['certificate_key'].upper()}, {told}"


def tls_version(s: Settings) -> str:
    """`tls_version`."""
    return "no TLS" if s["tls_version"] == "none" else f"TLS {s['tls_version']}"


@of_our_servers
def session_tickets(s: Settings) -> str:
    """`session_tickets`, of themselves as the visit needs them."""
    own = s.get("session_tickets")
    return {None: "as the visit needs", True: "given out", False: "none"}[own]


@of_our_servers
def unsent(s: Settings) -> str:
    """`unsent_bytes_max`."""
    if s["http_version"] == "h1":
        return "nothing is scheduled"
    own = s["unsent_bytes_max"]
    return "the transport's own bounds" if own is None else f"at most {own:,} bytes"


@of_our_servers
def early_data(s: Settings) -> str:
    """`early_data`."""
    return "early data" if s["early_data"] else "no early data"
