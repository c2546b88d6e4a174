"""All aspects in which stacks may differ: one literal table, in files by where they are.

`eyelevel validate level` measures its rows, `eyelevel explain stacks` prints them, and
`docs/reference/level.md` documents them. An aspect is a setting, or is measured, or both; it is
described by nothing else.

Aspects of the traffic between the handshake and the end of a connection. Aspects of the handshake,
and of the servers' own time. Aspects of the browser: which requests it delays, its connections, and
its request order.
"""

from eyelevel.calibration.level import value_text as wording
from eyelevel.calibration.level.classes import PAGES, Aspect, Bound, Measure
from eyelevel.plan.in_force import tcp_controller
from eyelevel.plan.networks.origin_rtt import describe_rtts
from eyelevel.plan.stacks import Stack


@wording.of_our_servers
def _unsent(s: Stack) -> str:
    """Return `unsent_bytes_max` in words."""
    if not s.schedules_responses:
        return "nothing is scheduled"
    given = s.unsent_bytes_max
    return "the transport's own bounds" if given is None else f"at most {given:,} bytes"


def _ecn(s: Stack) -> str:
    """Return `ecn`; over TCP it is the kernel's, for external servers as well."""
    if s.over_quic and not s.is_ours:
        return wording.ITS_OWN
    return s.ecn


@wording.of_our_servers
def _header_tables(s: Stack) -> str:
    """Return `header_table_bytes`, and over QPACK `blocked_streams_max`, in words."""
    if not s.schedules_responses:
        return "no table"
    size, blocked = s.header_table_bytes, s.blocked_streams_max
    tables = "its own tables" if size is None else f"tables of {size:,} bytes"
    return tables if blocked is None else f"{tables}, {blocked} streams may wait"


def _receive_window(s: Stack) -> str:
    """Return `receive_window_bytes` in words; it exists over TCP only."""
    if s.over_quic:
        return "the browser's"
    size = s.receive_window_bytes
    return "the kernel's" if size is None else f"{size:,} bytes"


def _initial_window(s: Stack) -> str:
    """Return `initial_window_packets`; over TCP it is the route's, for external servers as well."""
    if s.over_quic and not s.is_ours:
        return wording.ITS_OWN
    return f"{s.initial_window_packets} packets"


@wording.of_our_servers
def _pacing(s: Stack) -> str:
    """Return `pacing`, or BBR's own, in words."""
    if s.congestion_control == "bbr":
        return "BBR's own rate"
    return "on" if s.pacing else "off"


def _packet(s: Stack) -> str:
    """Return `quic_packet_bytes` in words."""
    if s.over_quic and not s.is_ours:
        return wording.ITS_OWN
    return f"{s.quic_packet_bytes:,} bytes of UDP" if s.over_quic else "the kernel's"


@wording.of_our_servers
def _record(s: Stack) -> str:
    """Return `tls_record_bytes` in words."""
    if not s.over_tls:
        return "no TLS"
    return "a packet" if s.over_quic else f"records of {s.tls_record_bytes:,} bytes"


@wording.of_our_servers
def _http_origins(s: Stack) -> str:
    """Return how recorded http origins are served; with QUIC, the stack's TCP settings apply."""
    controller = tcp_controller(s.congestion_control)
    paced = "paced" if s.pacing else "not paced"
    return f"HTTP/1.1 in cleartext, {controller}, {s.initial_window_packets} packets, {paced}"


_OF_WIRE: tuple[Aspect, ...] = (
    Aspect(
        "late urgent request",
        what="bytes that leave between its coming to the server and its answer's first",
        measure=Measure(
            "late_bytes",
            ("late on slow",),
            "bytes",
            "path log, own client",
            margin=4096.0,
            none_of=wording.no_priorities,
        ),
    ),
    Aspect(
        "unsent bytes",
        _unsent,
        ("unsent_bytes_max",),
        what="the most that waited below the scheduler",
        measure=Measure(
            "unsent_bytes_max",
            ("page on far", "late on slow"),
            "bytes",
            "servers' events",
            margin=4096.0,
            none_of=wording.no_scheduler,
        ),
        switch={"unsent_bytes_max": 65_536},
    ),
    Aspect(
        "recorded http origins",
        _http_origins,
        ("congestion_control", "initial_window_packets", "pacing"),
    ),
    Aspect(
        "ECN bits",
        _ecn,
        ("ecn",),
        what="packets from the servers that say that they can be marked, share",
        measure=Measure(
            "ecn_share_down",
            (*PAGES, "bulk on far"),
            "share",
            "path log",
            margin=0.01,
            # Each packet of the client is acknowledged at most once, and each request is answered.
            bound=Bound("inherent", 0.0, 0.5),
            because=(
                "TCP's acknowledgements without data, repetitions and SYN-ACKs are never ECT, RFC "
                "3168 6.1; QUIC's packets all are, RFC 9000 13.4"
            ),
            bound_with={"ecn": "on"},
        ),
        switch={"ecn": "on"},
    ),
    Aspect(
        "ECN bits, up",
        what="packets from the browser that say that they can be marked, share",
        measure=Measure(
            "ecn_share_up",
            PAGES,
            "share",
            "path log",
            margin=0.01,
            bound=Bound("browser", -1.0, 0.0),
            because="its QUIC tells of marks and sets none of its own; there is no flag for it",
            bound_with={"ecn": "on"},
        ),
    ),
    Aspect(
        "head bytes down",
        _header_tables,
        ("header_table_bytes", "blocked_streams_max"),
        what="of all responses as coded, inserts into tables included",
        measure=Measure(
            "head_bytes_down",
            PAGES,
            "bytes",
            "servers' events",
            margin_share=0.10,
            # 73 heads, and as much for references to table entries inserted with them.
            bound=Bound("inherent", 0.0, 292.0),
            because="a prefix of 2 bytes a head, RFC 9204 4.5.1; inserts apart from heads, 4.3",
        ),
    ),
    Aspect(
        "head bytes up",
        what="of all requests as coded, inserts into tables included",
        measure=Measure(
            "head_bytes_up",
            PAGES,
            "bytes",
            "servers' events",
            margin_share=0.10,
            # 73 heads, and every path once more.
            bound=Bound("inherent", 0.0, 1059.0),
            because=(
                "a prefix of 2 bytes a head, RFC 9204 4.5.1; what is inserted stays until it is "
                "acknowledged, 2.1.1, so that paths may come twice"
            ),
        ),
        switch={"header_table_bytes": 0},
    ),
    Aspect(
        "client's first window",
        _receive_window,
        ("receive_window_bytes",),
        what="bytes that the browser lets a server send at first, over a connection",
        measure=Measure(
            "client_window_bytes", PAGES, "bytes", "servers' events", margin_share=0.10
        ),
        switch={"receive_window_bytes": None},
    ),
    Aspect(
        "time limited by the client's window",
        what="in which it alone kept data back, over all connections",
        measure=Measure(
            "window_limited_ms", (*PAGES, "bulk on far"), "ms", "servers' events", margin=10.0
        ),
    ),
    Aspect(
        "time limited by the send buffer",
        what="in which there was more of a response and the transport took none",
        measure=Measure(
            "buffer_limited_ms", (*PAGES, "bulk on far"), "ms", "servers' events", margin=10.0
        ),
    ),
    Aspect(
        "initial window",
        _initial_window,
        ("initial_window_packets",),
        what="packets of the first flight after the handshake",
        measure=Measure(
            "first_flight_packets",
            ("bulk on far",),
            "packets",
            "path log",
            # The kernel counts its window in packets, QUIC in bytes.
            margin=1.0,
            compared="count",
        ),
        switch={"initial_window_packets": 10},
    ),
    Aspect(
        "pacing",
        _pacing,
        ("pacing",),
        what="from the first to the last packet of an initial window",
        measure=Measure(
            "first_flight_ms",
            ("bulk on far",),
            "ms",
            "path log",
            margin=4.0,
            margin_share=0.10,
        ),
        switch={"pacing": False},
    ),
    Aspect(
        "repair at the tail",
        what="what the loss of the last packet of a response costs",
        measure=Measure(
            "repair_ms",
            ("loss at the tail",),
            "ms",
            "own client",
            margin=10.0,
            # 125 to 325 ms (RTTVAR is at most half of SRTT) less 400 to 480 (SRTT includes delays).
            bound=Bound("inherent", -355.0, -75.0),
            because=(
                "SRTT + 4 RTTVAR + 25 ms from the packet on, RFC 9002 6.2.1; over TCP SRTT and the "
                "kernel's 200 ms (RFC 6298 2.3) from the last acknowledgement on, which comes a "
                "round trip and at most 40 ms after the packet"
            ),
        ),
    ),
    Aspect(
        "repair in the middle",
        what="what the loss of a packet in the middle of a response costs",
        measure=Measure(
            "repair_ms",
            ("loss in the middle",),
            "ms",
            "own client",
            margin=20.0,
        ),
    ),
    Aspect(
        "acknowledgements",
        what="packets up for each packet down",
        measure=Measure(
            "packets_up_per_down",
            PAGES,
            "",
            "path log",
            margin=0.1,
            bound=Bound("browser", -0.9, 0.0),
            because=(
                "its QUIC acknowledges every 2nd packet, after 100 every 10th, RFC 9000 13.2.2; "
                "TCP each or every 2nd, RFC 5681 4.2"
            ),
        ),
    ),
    Aspect(
        "delayed acknowledgements",
        what="the longest from a data packet's coming to the browser to its next packet up",
        measure=Measure(
            "ack_delay_ms_max",
            PAGES,
            "ms",
            "path log",
            margin=10.0,
            bound=Bound("browser", -175.0, 0.0),
            because=(
                "its QUIC waits 25 ms (RFC 9000 18.2) and for a processor, the kernel's TCP 40 to "
                "200 ms"
            ),
        ),
    ),
    Aspect(
        "packet size",
        _packet,
        ("quic_packet_bytes",),
        what="the most common packet down, IP header included",
        measure=Measure("packet_bytes", PAGES, "bytes", "path log", margin=20.0),
    ),
    Aspect(
        "first usable byte",
        _record,
        ("tls_record_bytes",),
        what="from sending the page's request to its response's head",
        measure=Measure(
            "first_byte_ms",
            ("page on slow",),
            "ms",
            "record",
            margin=5.0,
            bound=Bound("inherent", -47.0, 21.0),
            because=(
                "a record of 4 kB is read as a whole, RFC 8446 5.2, a packet alone, RFC 9001 5.3; "
                "the request waits for a datagram of 1200 bytes, RFC 9000 14.1"
            ),
        ),
        switch={"tls_record_bytes": 16_384},
    ),
)


def _chain(s: Stack) -> str:
    """Return `certificate_key` and `certificate_chain_bytes` in words."""
    if not s.over_tls:
        return "none"
    size = s.certificate_chain_bytes
    named = {None: "not padded", "recorded": "as large as recorded"}
    size_text = f"{size:,} bytes" if isinstance(size, int) else named[size]
    sent = ", compressed" if s.certificate_compression != "none" else ""
    return f"{s.certificate_key.upper()}, {size_text}{sent}"


def _tls_version(s: Stack) -> str:
    """Return `tls_version` and `key_exchange` in words."""
    return f"TLS {s.tls_version}, {s.key_exchange} key exchange" if s.over_tls else "no TLS"


@wording.of_our_servers
def _session_tickets(s: Stack) -> str:
    """Return `session_tickets` in words; by default they are as the visit needs them."""
    given = s.session_tickets
    return {None: "as the visit needs", True: "given out", False: "none"}[given]


@wording.of_our_servers
def _early_data(s: Stack) -> str:
    """Return `early_data` in words."""
    return "early data" if s.early_data else "no early data"


_OF_HANDSHAKE: tuple[Aspect, ...] = (
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
        "handshake in the browser",
        what="of the page's connection, TLS included, as the browser times it",
        measure=Measure(
            "page_connect_ms",
            PAGES,
            "ms",
            "record",
            margin=25.0,
            bound=Bound("inherent", -262.0, -200.0),
            because="one round trip less, RFC 9001 4.1",
        ),
    ),
    Aspect(
        "certificate chain",
        _chain,
        ("certificate_key", "certificate_chain_bytes", "certificate_compression"),
        what="bytes of the certificates that the client got",
        measure=Measure(
            "certificate_bytes",
            ("bulk on far",),
            "bytes",
            "own client",
            margin=16.0,
            none_of=wording.no_tls,
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
            none_of=wording.no_tls,
        ),
    ),
    Aspect(
        "cipher and key exchange",
        _tls_version,
        ("tls_version", "key_exchange"),
        what="as the TLS sessions say",
        measure=Measure(
            "cipher", PAGES, "", "servers' events", compared="label", none_of=wording.no_tls
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


def _alt_svc(s: Stack) -> str:
    """Return `alt_svc` and `discovery`, for HTTP/3 only, and the visitor, in words."""
    known = "servers known beforehand" if s.visitor == "known" else "a first visitor"
    if s.over_quic and not s.is_ours:
        return f"{known}; the server names HTTP/3, or does not"
    if not s.over_quic or s.alt_svc is None:
        return known
    if s.is_discovered:
        return f"{known}; HTTP/3 is found by Alt-Svc over HTTP/2"
    return f"{known}; responses {'name' if s.alt_svc else 'do not name'} HTTP/3"


def _connection_type(s: Stack) -> str:
    """Return `effective_connection_type` in words, if the stack sets it."""
    given = s.effective_connection_type
    return {None: "from the network", "network": "from the network"}.get(given, str(given))


FORCED = (
    "six sockets a host until it is known to speak HTTP/2; forced QUIC knows beforehand: "
    "--origin-to-force-quic-on"
)
"""The bound for forced QUIC: at most five unused connections to each of the page's two hosts."""


def _connection_count(name: str) -> Measure:
    """Return the measure of a count of connections, which forced QUIC may lower."""
    return Measure(
        name,
        PAGES,
        "",
        "servers' events",
        compared="count",
        bound=Bound("browser", -10.0, 0.0),
        because=FORCED,
    )


_OF_BROWSER: tuple[Aspect, ...] = (
    Aspect(
        "time in the browser's scheduler",
        _alt_svc,
        ("alt_svc", "discovery", "visitor"),
        what="of low-priority requests, once their host had answered, median",
        measure=Measure("scheduler_ms_p50", PAGES, "ms", "network log", margin=5.0),
        switch={"alt_svc": False},
    ),
    Aspect(
        "the longest in the scheduler",
        what="the same, 90th percentile",
        measure=Measure("scheduler_ms_p90", PAGES, "ms", "network log", margin=20.0),
    ),
    Aspect(
        "important ones in the scheduler",
        what="of requests that are not of low priority, 90th percentile",
        measure=Measure("scheduler_important_ms_p90", PAGES, "ms", "network log", margin=20.0),
    ),
    Aspect(
        "requests held back",
        what="requests that the browser did not let go at once",
        measure=Measure("held_back", PAGES, "requests", "network log", compared="count"),
    ),
    Aspect(
        "requests in flight",
        what="most requests of low priority that were under way at once to one host",
        measure=Measure("in_flight_max", PAGES, "requests", "network log", compared="count"),
    ),
    Aspect(
        "connection type",
        _connection_type,
        ("effective_connection_type",),
        what="what the browser takes the network for, at the end of the load",
        measure=Measure("connection_type", PAGES, "", "record", compared="label"),
        switch={"effective_connection_type": "3g"},
    ),
    Aspect(
        "connections",
        what="those that the browser opened for the page, as its servers saw them",
        measure=_connection_count("connections"),
    ),
    Aspect(
        "unused connections",
        what="those that carried no request",
        measure=_connection_count("unused_connections"),
    ),
    Aspect(
        "order on the wire",
        what="pairs of requests of different kinds that the page's server got the other way round",
        measure=Measure("order_share", PAGES, "share", "servers' events", margin=0.05),
    ),
    Aspect(
        "late script's place",
        what="requests that the page's server got before its last script",
        measure=Measure(
            "late_script_place", PAGES, "requests", "servers' events", compared="count"
        ),
    ),
    Aspect(
        "priorities",
        what="kinds of objects by the priority that their requests ask for",
        measure=Measure(
            "priorities",
            PAGES,
            "",
            "servers' events",
            compared="label",
            none_of=wording.no_priorities,
        ),
    ),
)


def _visit(s: Stack) -> str:
    """Return the visit, which each stack of a plan may set."""
    meant = {
        "repeat": "repeat: a second load, with TLS tickets",
        "warm": "warm: a second load, over open connections",
        "cached": "cached: a second load, with the HTTP cache",
    }
    visit = s.visit or "first"
    return meant.get(visit, str(visit))


def _server(s: Stack) -> str:
    """Return whether the server is eyelevel's, or the external command."""
    server = s.external_server
    if not server:
        return "eyelevel's"
    return f"somebody else's: {' '.join(server.command)}; what it does is its own"


@wording.of_our_servers
def _congestion_control(s: Stack) -> str:
    """Return `congestion_control` in words."""
    return s.controller


def _idle(s: Stack) -> str:
    """Return `slow_start_after_idle` in words."""
    return "yes" if s.slow_start_after_idle else "no"


@wording.of_our_servers
def _scheduler(s: Stack) -> str:
    """Return `priorities` in words."""
    if not s.schedules_responses:
        return "one response a connection"
    return "urgency, then order (RFC 9218)" if s.priorities else "all in turn"


@wording.of_our_servers
def _think_time(s: Stack) -> str:
    """Return `think_time` in words."""
    return s.think_time if isinstance(s.think_time, str) else f"{s.think_time:g} ms"


@wording.of_our_servers
def _early_hints(s: Stack) -> str:
    """Return `early_hints` in words."""
    return "render-blocking objects" if s.has_early_hints else "none"


def _origin_rtt(s: Stack) -> str:
    """Return `origin_rtt` in words, in addition to the network's."""
    return describe_rtts(s.origin_rtt)


def _names(s: Stack) -> str:
    """Return `coalescing` in words."""
    if not s.over_tls:
        return "none"
    return "as recorded" if s.coalescing else "one"


SETTINGS: tuple[Aspect, ...] = (
    Aspect("visit", _visit, ("visit",)),
    Aspect("server", _server, ("external_server",)),
    Aspect("congestion control", _congestion_control, ("congestion_control",)),
    Aspect("slow start after idle", _idle, ("slow_start_after_idle",)),
    Aspect("scheduler", _scheduler, ("priorities",)),
    Aspect("server think time", _think_time, ("think_time",)),
    Aspect("Early Hints", _early_hints, ("early_hints",)),
    Aspect("round trips by origin", _origin_rtt, ("origin_rtt",)),
    Aspect("certificate names", _names, ("coalescing",)),
)
"""Aspects that are settings only; those of congestion control are read back on every load."""

ASPECTS: tuple[Aspect, ...] = (*SETTINGS, *_OF_BROWSER, *_OF_WIRE, *_OF_HANDSHAKE)
"""All aspects in the order of the tables."""
