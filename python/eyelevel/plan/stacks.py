"""Protocol stacks and their settings, declared once (see `eyelevel.base.settings`).

They include Chromium's effective connection type, derived from a network's round-trip time. By
default Chromium estimates the type while a page loads, so that it differs between stacks and
changes during loads. Below 4g it holds back low-priority requests over every protocol, loads lazy
images from farther away, and reports the type to pages (`navigator.connection`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Literal, Self

from annotated_types import MinLen

from eyelevel.base.json_types import JsonObject
from eyelevel.base.lab_tables import LIMITS
from eyelevel.base.settings import LISTED, About, DurationMs, Settings, SizeBytes, within
from eyelevel.plan.networks.origin_rtt import OriginRtts

HttpVersion = Literal["h1", "h2", "h3"]
TlsVersion = Literal["none", "1.2", "1.3"]
CongestionControl = Literal["cubic", "bbr", "reno", "cubic-hystart++", "sprout_ewma"]
SproutHorizon = Literal["max", "min"]
"""Horizon of Sprout: the larger or smaller of 100 ms and the minimum round-trip time; `max` as
in Das's code, `min` as in his text.
"""

KERNEL_CONGESTION_CONTROLS: tuple[CongestionControl, ...] = ("cubic", "bbr", "reno")
"""Congestion controllers of the kernel's TCP; the others are ours and exist over QUIC only."""

# Small records reach the page sooner on slow links: 16 kB take 280 ms at 0.468 Mbit/s before their
# first byte can be read.
_TLS_RECORD_BYTES = 4096
# The largest UDP payload that fits 1500-byte packets over IPv4 and IPv6, as full TCP segments do.
_QUIC_PACKET_BYTES = int(LIMITS["quic_packet_bytes"].max)
# The initial connection window of Chromium's QUIC, and of ours for clients: TCP is
# tuned "to match QUIC's defaults" (Wolsing et al. 2019, table 1).
RECEIVE_WINDOW_BYTES = 15 * 2**20
# Four chunks of a response with TLS and HTTP overhead: what an urgent response finds
# queued costs 280 ms at 0.468 Mbit/s, and 1.3 ms at the highest rate to which it applies.
UNSENT_BYTES_MAX = 16 * 2**10
# Above it a server may wake too late to refill so little; transports keep their own bounds.
UNSENT_RATE_BIT_S_MAX = 100_000_000
# HPACK's default (RFC 9113, section 6.5.2), and the maximum of our HTTP/2 server's encoder.
HEADER_TABLE_BYTES = 4096
# Chromium's offer, and the maximum of open requests per connection.
BLOCKED_STREAMS_MAX = int(LIMITS["blocked_streams_max"].max)


ARRIVALS_BY_ACKS = "ACK arrivals"
ARRIVALS_BY_TIMESTAMPS = "receive timestamps"
EXTERNAL_SERVER_MARK = "@external"
"""Suffix, in every table, of a stack with an external server."""


ConnectionType = Literal["slow-2g", "2g", "3g", "4g"]
ConnectionTypeSetting = Annotated[
    Literal["network", "measured", "slow-2g", "2g", "3g", "4g"],
    About(
        "the connection type that Chromium assumes: `network` derives it from the round trip; "
        "with `measured` the browser estimates it, which differs between stacks"
    ),
]

# Chromium, net/nqe/network_quality_estimator_params.cc: kHttpRttEffectiveConnectionTypeThresholds.
RTT_MS_FROM: Mapping[ConnectionType, float] = {"slow-2g": 2010.0, "2g": 1420.0, "3g": 272.0}
"""Minimum round-trip time of each type, ms; below all of them it is 4g."""


def connection_type(
    setting: ConnectionTypeSetting, rtt_ms_min: float
) -> ConnectionType | Literal["measured"]:
    """Return the connection type for a network with this minimum round-trip time."""
    if setting != "network":
        return setting
    return next((name for name, from_ms in RTT_MS_FROM.items() if rtt_ms_min >= from_ms), "4g")


VisitKind = Literal["first", "repeat", "warm", "cached"]
Visit = Annotated[
    VisitKind,
    About(
        "`repeat` is a second visit with session tickets and an empty cache; `warm` also uses "
        "the connections that the first visit left open; `cached` has the first visit's HTTP "
        "cache and neither tickets nor connections"
    ),
]
Visitor = Annotated[
    Literal["first", "known"],
    About("with `known` the browser knows which protocols each host supports, and nothing else"),
]

KeyExchange = Literal["hybrid", "classical"]
Discovery = Literal["known", "alt-svc"]
"""How the browser finds out that an origin has HTTP/3: it is forced, or learns it (RFC 7838)."""

HintedObjects = Literal["none", "auto"]
"""The objects that Early Hints name (RFC 8297): none, or the recording's render-blocking ones."""

_servers = partial(About, servers=True)


@dataclass(frozen=True)
class ExternalServer(Settings):
    """An external server that replaces ours.

    Its command, which runs confined on the lab's server side, its HTTP versions, and further paths
    that it may read.
    """

    command: Annotated[tuple[Annotated[str, MinLen(1)], ...], MinLen(1), LISTED]
    protocols: Annotated[tuple[HttpVersion, ...], MinLen(1), LISTED]
    paths: Annotated[tuple[Annotated[str, MinLen(1)], ...], LISTED] = ()


@dataclass(frozen=True)
class Stack(Settings):
    """One protocol stack with its tuning; `stack_preset`: the preset that it is based on."""

    name: str
    stack_preset: str
    http_version: Annotated[
        HttpVersion, _servers("what servers and browser speak", tried=("http",))
    ]
    congestion_control: Annotated[
        CongestionControl,
        _servers("over QUIC also `cubic-hystart++` and `sprout_ewma`", tried=("cc",)),
    ]
    initial_window_packets: Annotated[
        int, within("initial_window_packets"), _servers("servers' window at first", tried=("iw",))
    ]
    pacing: Annotated[bool, _servers("whether servers spread packets over a round trip")]
    slow_start_after_idle: Annotated[
        bool, _servers("whether a window that was not used falls back to the initial one")
    ]
    ecn: Annotated[
        Literal["off", "on"],
        _servers(
            "whether packets may be marked instead of dropped, on both sides and over both "
            "transports, as far as the browser lets it be set"
        ),
    ] = "off"
    receive_window_bytes: Annotated[
        Annotated[SizeBytes, within("receive_window_bytes")] | None,
        _servers(
            "of TCP: the window that either end offers at first and at most, with send buffers to "
            "match; else the kernel's"
        ),
    ] = None
    unsent_bytes_max: Annotated[
        Annotated[SizeBytes, within("unsent_bytes_max")] | None,
        _servers(
            "of HTTP/2 and 3: what the response scheduler may grant before it is sent; else "
            f"{UNSENT_BYTES_MAX} up to {UNSENT_RATE_BIT_S_MAX // 10**6} Mbit/s and the transport's "
            "own bounds beyond"
        ),
    ] = None
    tls_record_bytes: Annotated[
        int, within("tls_record_bytes"), _servers("of TLS over TCP: the largest record")
    ] = _TLS_RECORD_BYTES
    quic_packet_bytes: Annotated[
        int, within("quic_packet_bytes"), _servers("of QUIC: UDP's payload")
    ] = _QUIC_PACKET_BYTES
    tls_version: Annotated[
        TlsVersion, _servers("`none`: cleartext, HTTP/1.1 alone; `1.2`: over TCP alone")
    ] = "1.3"
    probe_gain: Annotated[
        Annotated[float, within("probe_gain")] | None,
        _servers("Sprout-EWMA's factor above its window; else 1.0, the published one"),
    ] = None
    sprout_horizon: Annotated[
        SproutHorizon | None,
        _servers("Sprout-EWMA's, of 100 ms and the smallest round trip time; else `max`"),
    ] = None
    header_table_bytes: Annotated[
        Annotated[SizeBytes, within("header_table_bytes")] | None,
        _servers(
            "each of the dynamic tables of HPACK or QPACK, for requests and for responses; 0: "
            f"none; else {HEADER_TABLE_BYTES}"
        ),
    ] = None
    blocked_streams_max: Annotated[
        Annotated[int, within("blocked_streams_max")] | None,
        _servers(
            f"streams that may wait for inserts into QPACK's tables; else {BLOCKED_STREAMS_MAX}"
        ),
    ] = None
    early_data: Annotated[
        bool, _servers("take requests in a resumed connection's first flight")
    ] = False
    priorities: Annotated[
        bool,
        _servers("whether the browser's decide the order of responses; else all in turn"),
    ] = True
    key_exchange: Annotated[
        KeyExchange,
        _servers("X25519MLKEM768 where the browser offers it, as it does; or X25519"),
    ] = "hybrid"
    certificate_key: Annotated[
        Literal["ecdsa", "rsa"], _servers("P-256, or RSA with 2048 bits")
    ] = "ecdsa"
    certificate_chain_bytes: Annotated[
        Literal["recorded"] | Annotated[SizeBytes, within("certificate_chain_bytes")] | None,
        _servers("the chain padded to this size, or each host's to its recorded one"),
    ] = None
    certificate_compression: Annotated[
        Literal["none", "brotli"],
        _servers("of the certificates, for a browser that offers it, as Chromium does"),
    ] = "none"
    coalescing: Annotated[bool, _servers("false: each host has a certificate of its own")] = True
    think_time: Annotated[
        Literal["none", "recorded"] | Annotated[DurationMs, within("think_time")],
        _servers("`none` as in the papers, `recorded`, or the same for every response"),
    ] = "none"
    early_hints: Annotated[
        HintedObjects,
        _servers(
            "of HTTP/2 and 3: with `auto` a 103 names the page's render-blocking objects of its "
            "own origin while the page's response waits for its think time"
        ),
    ] = "none"
    alt_svc: Annotated[
        bool | None,
        _servers("of HTTP/3: whether responses say that their origin has it; else they do"),
    ] = None
    discovery: Annotated[
        Discovery,
        _servers(
            "of HTTP/3: with `alt-svc` a first connection over HTTP/2 finds it and the browser "
            "races the two; with `known` the browser uses it from the start"
        ),
    ] = "known"
    session_tickets: Annotated[
        bool | None,
        _servers("whether servers give them out; else on repeat visits alone"),
    ] = None
    visit: Visit | None = None
    """None for the plan's value, as for the next two settings, which apply to the browser only."""
    visitor: Visitor | None = None
    effective_connection_type: ConnectionTypeSetting | None = None
    origin_rtt: Annotated[OriginRtts | None, About("origins' own round trips, by host")] = None
    external_server: Annotated[
        ExternalServer | None, About("somebody else's server in the place of ours")
    ] = None

    @property
    def is_ours(self) -> bool:
        """Whether our servers serve it, not an external one."""
        return self.external_server is None

    def with_tickets(self, tls_version: TlsVersion) -> Self:
        """Return the stack over this TLS version, with servers that issue session tickets."""
        return replace(self, tls_version=tls_version, session_tickets=True)

    @property
    def over_quic(self) -> bool:
        """Whether its transport is QUIC (HTTP/3); otherwise it is TCP."""
        return self.http_version == "h3"

    @property
    def is_discovered(self) -> bool:
        """Whether the browser learns of HTTP/3 over HTTP/2, so that loads use both."""
        return self.discovery == "alt-svc"

    @property
    def has_early_hints(self) -> bool:
        """Whether a 103 goes ahead of the page's response."""
        return self.early_hints != "none"

    @property
    def without(self) -> tuple[str, ...]:
        """Names of the settings that its transport does not have."""
        if self.over_quic:
            return ("receive_window_bytes", "tls_record_bytes", "slow_start_after_idle")
        return ("quic_packet_bytes",)

    @property
    def over_tls(self) -> bool:
        """Whether the connections are encrypted."""
        return self.tls_version != "none"

    @property
    def schedules_responses(self) -> bool:
        """Whether responses share a connection: HTTP/1.1 has one at a time, and no priorities."""
        return self.http_version != "h1"

    @property
    def protocol(self) -> str:
        """Registered ALPN name, as browsers and servers report it."""
        return "http/1.1" if self.http_version == "h1" else self.http_version

    @property
    def protocols(self) -> tuple[str, ...]:
        """Registered ALPN names of the protocols that its secure origins have."""
        return (self.protocol, "h2") if self.is_discovered else (self.protocol,)

    @property
    def controller(self) -> str:
        """Congestion control in force, with the parameters that change its algorithm.

        Sprout-EWMA uses the arrival times of packets. A browser does not report these: over a real
        connection the arrival times of acknowledgements are used, and results state that.
        """
        if self.congestion_control != "sprout_ewma":
            return self.congestion_control
        gain = f", probe gain {self.probe_gain:g}" if self.probe_gain else ""
        horizon = ", min(100 ms, RTT)" if self.sprout_horizon == "min" else ""
        return f"sprout_ewma ({ARRIVALS_BY_ACKS}){gain}{horizon}"

    def settings(self) -> JsonObject:
        """Return all settings but the names, as JSON: the part that a trial's hash covers."""
        return self.stated(without=("name", "stack_preset"))

    def cells(self) -> dict[str, str]:
        """Return the stack's row in tables, by heading."""
        window = self.receive_window_bytes
        first = f"{window / 2**20:g} MiB" if window is not None else "kernel's"
        return {
            "name": self.name,
            "HTTP": self.http_version,
            "TLS": self.tls_version,
            "congestion control": self.controller,
            "initial window": str(self.initial_window_packets),
            "paced": "yes" if self.pacing else "no",
            "idle restart": "yes" if self.slow_start_after_idle else "no",
            "first window": "browser's" if self.over_quic else first,
        }

    def refusal(self) -> str:
        """Return why servers or browser cannot run this stack; "" if they can."""
        for key in () if self.is_ours else _OURS_ALONE:
            if getattr(self, key) != getattr(Stack, key):
                return f"`{key}` is our servers': somebody else's does as it does"
        return next((reason for wrong, reason in _REFUSALS if wrong(self)), "")


_OURS_ALONE = (
    *("think_time", "early_hints", "alt_svc", "discovery", "unsent_bytes_max"),
    *("session_tickets", "header_table_bytes", "blocked_streams_max"),
)
_REFUSALS: tuple[tuple[Callable[[Stack], object], str], ...] = (
    (
        lambda s: s.external_server and s.http_version not in s.external_server.protocols,
        "`external_server`: its `protocols` lack the stack's `http_version`",
    ),
    (
        lambda s: not s.is_ours and not s.over_tls,
        "`external_server`: somebody else's server gets certificates; cleartext is ours alone",
    ),
    (
        lambda s: not s.is_ours and s.over_quic and s.ecn == "on",
        "`ecn` over QUIC is our servers': somebody else's marks as it does",
    ),
    (
        lambda s: not s.over_quic and s.alt_svc is not None,
        "`alt_svc` is HTTP/3's: over TCP it would lead the browser to another protocol",
    ),
    (
        lambda s: not s.over_quic and s.is_discovered,
        '`discovery` is HTTP/3\'s: write `http_version = "h3"`, or leave it out',
    ),
    (
        lambda s: s.is_discovered and s.alt_svc is False,
        '`alt_svc`: without it no browser finds HTTP/3; write `discovery = "known"`',
    ),
    (
        lambda s: s.has_early_hints and not s.schedules_responses,
        "`early_hints`: browsers ignore them over HTTP/1.1; use HTTP/2 or HTTP/3, or leave it out",
    ),
    (
        lambda s: s.over_quic and s.receive_window_bytes is not None,
        "`receive_window_bytes` is TCP's: over QUIC the browser's own windows hold",
    ),
    (
        lambda s: not s.schedules_responses and s.unsent_bytes_max is not None,
        "`unsent_bytes_max` is the response scheduler's: HTTP/1.1 has one response a connection",
    ),
    (
        lambda s: s.tls_record_bytes != _TLS_RECORD_BYTES and (s.over_quic or not s.over_tls),
        "`tls_record_bytes`: QUIC protects each packet, cleartext none: neither has TLS records",
    ),
    (
        lambda s: not s.over_quic and s.quic_packet_bytes != _QUIC_PACKET_BYTES,
        "`quic_packet_bytes` is QUIC's: the kernel cuts TCP's segments to the path",
    ),
    (
        lambda s: (
            not s.over_tls
            and (s.certificate_chain_bytes is not None or s.certificate_key != "ecdsa")
        ),
        "`certificate_chain_bytes` and `certificate_key` need TLS: cleartext has no certificate",
    ),
    (
        lambda s: s.key_exchange != "hybrid" and not s.over_tls,
        "`key_exchange` needs TLS: cleartext has no keys",
    ),
    (
        lambda s: s.certificate_compression != "none" and s.tls_version != "1.3",
        "`certificate_compression` needs TLS 1.3",
    ),
    (
        lambda s: s.over_quic and s.tls_version != "1.3",
        "`tls_version`: QUIC has TLS 1.3 only",
    ),
    (
        lambda s: s.http_version == "h2" and not s.over_tls,
        "`tls_version`: browsers speak HTTP/2 over TLS only; without TLS use HTTP/1.1",
    ),
    (
        lambda s: s.early_data and s.tls_version != "1.3",
        "`early_data` needs TLS 1.3",
    ),
    (
        lambda s: s.header_table_bytes is not None and not s.schedules_responses,
        "`header_table_bytes`: HTTP/1.1 compresses no header",
    ),
    (
        lambda s: s.http_version == "h2" and (s.header_table_bytes or 0) > HEADER_TABLE_BYTES,
        f"`header_table_bytes`: our HTTP/2 server compresses with at most {HEADER_TABLE_BYTES}",
    ),
    (
        lambda s: s.blocked_streams_max is not None and not s.over_quic,
        "`blocked_streams_max` is QPACK's, of h3: HPACK's table is read in order",
    ),
    (
        lambda s: not s.over_quic and s.congestion_control not in KERNEL_CONGESTION_CONTROLS,
        "`congestion_control`: the kernel's TCP has cubic, bbr and reno; the others exist over "
        "QUIC alone",
    ),
    (
        lambda s: s.probe_gain is not None and s.congestion_control != "sprout_ewma",
        "`probe_gain` is Sprout-EWMA's alone",
    ),
    (
        lambda s: s.sprout_horizon is not None and s.congestion_control != "sprout_ewma",
        "`sprout_horizon` is Sprout-EWMA's alone",
    ),
    (
        lambda s: s.congestion_control == "bbr" and not s.pacing,
        "`pacing`: BBR always paces",
    ),
    (
        lambda s: s.congestion_control == "sprout_ewma" and s.pacing,
        "`pacing`: Sprout-EWMA never paces, its window alone limits it",
    ),
)
"""Impossible combinations, each with its reason."""


def stack_in_words(stack: Stack) -> str:
    """Describe a stack in a sentence."""
    protocols = {"h1": "HTTP/1.1 over TCP", "h2": "HTTP/2 over TCP", "h3": "HTTP/3 over QUIC"}
    text = f"{stack.name} is {protocols[stack.http_version]}"
    if stack.external_server:
        return f"{text} from an external server"
    if stack.is_discovered:
        text += ", found by Alt-Svc over HTTP/2"
    if stack.has_early_hints:
        text += ", with Early Hints"
    pacing = "paced" if stack.pacing else "not paced"
    return f"{text}, initial window {stack.initial_window_packets}, {pacing}"
