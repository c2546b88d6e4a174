"""Protocol stacks: what one is made of, and how it becomes the lab's object."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from eyelevel.lab_tables import LIMITS
from eyelevel.networks.network import Network
from eyelevel.plan.connection_type import ConnectionTypeSetting

HttpVersion = Literal["h1", "h2", "h3"]
TlsVersion = Literal["none", "1.2", "1.3"]
CertificateKey = Literal["ecdsa", "rsa"]
CongestionControl = Literal["cubic", "bbr", "reno", "cubic-hystart++", "sprout_ewma"]
SproutHorizon = Literal["max", "min"]
"""Of 100 ms and the smallest round trip time: `max` as in Das's code, `min` as in his text."""
ThinkTime = Literal["none", "recorded"] | float
"""`none`, as in the papers; `recorded`; or milliseconds."""
Ecn = Literal["off", "on"]
"""Whether packets may be marked instead of dropped; the same on both sides and over both
transports, as far as the browser lets it be set."""
Visit = Literal["first", "repeat", "warm"]
"""`repeat`: a second one, with warm session tickets and a cold HTTP cache; `warm`: over the
connections that the first one left open, too."""
Visitor = Literal["first", "known"]
"""`known`: the browser knows of every host what it speaks before the load begins, and nothing else
of it."""

KERNEL_CONGESTION_CONTROLS: tuple[CongestionControl, ...] = ("cubic", "bbr", "reno")
"""What the kernel's TCP has; the other controllers are ours and exist over QUIC alone."""

# Small records reach the page sooner on slow links: 16 kB take 280 ms at 0.468 Mbit/s before their
# first byte can be read.
TLS_RECORD_BYTES = 4096
# The largest UDP payload that fits 1500-byte packets over IPv4 and IPv6, as full TCP segments do.
QUIC_PACKET_BYTES = int(LIMITS["quic_packet_bytes"].max)
# What Chromium's QUIC grants a server over a connection at first, and ours grants a client: TCP is
# tuned "to match QUIC's defaults" (Wolsing et al. 2019, table 1).
RECEIVE_WINDOW_BYTES = 15 * 2**20
# A chunk of a response and what TLS and HTTP add to it, four times: what an urgent response finds
# before it costs 280 ms at 0.468 Mbit/s, and 1.3 ms at the fastest rate to which it applies.
UNSENT_BYTES_MAX = 16 * 2**10
# Above it a server may be woken too late to keep so little ready; transports keep their own bounds.
UNSENT_RATE_BIT_S_MAX = 100_000_000
# HPACK's default (RFC 9113, section 6.5.2), and the most that our HTTP/2 server's encoder has.
HEADER_TABLE_BYTES = 4096
# What Chromium offers, and as many requests as a connection may have open.
BLOCKED_STREAMS_MAX = int(LIMITS["blocked_streams_max"].max)


EXTERNAL_SERVER_MARK = "@external"
"""Ends the name of a stack that somebody else's server serves, in every table."""


@dataclass(frozen=True)
class ExternalServer:
    """A server that is not ours: its command, run on the servers' side of the lab, and the HTTP
    versions that it speaks."""

    command: tuple[str, ...]
    protocols: tuple[HttpVersion, ...]


@dataclass(frozen=True)
class Stack:
    """One protocol stack with its tuning.

    `receive_window_bytes`: the window that either end's TCP offers at first and at most, with send
    buffers to match; None: the kernel's. `unsent_bytes_max`: what may be granted by the response
    scheduler and not yet sent; None: it follows from the network, `UNSENT_BYTES_MAX` up to
    `UNSENT_RATE_BIT_S_MAX` and the transports' own bounds beyond. `preset`: the table's entry that
    it came from.
    """

    name: str
    preset: str
    http_version: HttpVersion
    congestion_control: CongestionControl
    initial_window_packets: int
    pacing: bool
    slow_start_after_idle: bool
    ecn: Ecn = "off"
    receive_window_bytes: int | None = None
    unsent_bytes_max: int | None = None
    tls_record_bytes: int = TLS_RECORD_BYTES
    quic_packet_bytes: int = QUIC_PACKET_BYTES
    tls_version: TlsVersion = "1.3"
    probe_gain: float | None = None
    sprout_horizon: SproutHorizon | None = None
    header_table_bytes: int | None = None
    """Each of the dynamic tables of HPACK or QPACK, for requests and for responses; 0: none; None:
    4096, over HTTP/1.1 nothing."""
    blocked_streams_max: int | None = None
    """Streams that may wait for inserts into QPACK's tables; None: 100, without QPACK nothing."""
    early_data: bool = False
    priorities: bool = True
    certificate_key: CertificateKey = "ecdsa"
    certificate_chain_bytes: int | Literal["recorded"] | None = None
    coalescing: bool = True
    think_time: ThinkTime = "none"
    alt_svc: bool | None = None
    """Whether responses over HTTP/3 name it; None: over HTTP/3 they do (`names_alt_svc`)."""
    session_tickets: bool | None = None
    """None: as the visit needs them, on repeat visits alone."""
    visit: Visit | None = None
    """None: the plan's, as with the next two, which are the browser's and not the servers'."""
    visitor: Visitor | None = None
    effective_connection_type: ConnectionTypeSetting | None = None
    server: ExternalServer | None = None
    """None: ours."""

    @property
    def names_alt_svc(self) -> bool | None:
        """Whether responses carry Alt-Svc; None where it is not ours to say, or means nothing."""
        if self.http_version != "h3" or self.server is not None:
            return None
        return self.alt_svc is not False

    def refusal(self) -> str:
        """Why servers or browser cannot have this stack; empty where they can."""
        return next((reason for wrong, reason in _REFUSALS if wrong(self)), "")


_REFUSALS: tuple[tuple[Callable[[Stack], bool], str], ...] = (
    (
        lambda s: s.server is not None and s.http_version not in s.server.protocols,
        "`server`: its `protocols` lack the stack's `http_version`",
    ),
    (
        lambda s: s.server is not None and s.tls_version == "none",
        "`server`: somebody else's server gets certificates; cleartext is ours alone",
    ),
    (
        lambda s: s.server is not None and s.think_time != "none",
        "`think_time` is our servers': somebody else's thinks as long as it does",
    ),
    (
        lambda s: s.server is not None and s.alt_svc is not None,
        "`alt_svc` is our servers': somebody else's says of itself what it does",
    ),
    (
        lambda s: s.server is not None and s.http_version == "h3" and s.ecn == "on",
        "`ecn` over QUIC is our servers': somebody else's marks as it does",
    ),
    (
        lambda s: s.server is not None and s.unsent_bytes_max is not None,
        "`unsent_bytes_max` is our servers' scheduler's: somebody else's has its own",
    ),
    (
        lambda s: s.server is not None and s.session_tickets is not None,
        "`session_tickets` are our servers': somebody else's gives them out as it does",
    ),
    (
        lambda s: s.http_version != "h3" and s.alt_svc is not None,
        "`alt_svc` is HTTP/3's: over TCP it would lead the browser to another protocol",
    ),
    (
        lambda s: s.http_version == "h3" and s.receive_window_bytes is not None,
        "`receive_window_bytes` is TCP's: over QUIC the browser's own windows hold",
    ),
    (
        lambda s: s.http_version == "h1" and s.unsent_bytes_max is not None,
        "`unsent_bytes_max` is the response scheduler's: HTTP/1.1 has one response a connection",
    ),
    (
        lambda s: (
            s.tls_record_bytes != TLS_RECORD_BYTES
            and (s.http_version == "h3" or s.tls_version == "none")
        ),
        "`tls_record_bytes`: QUIC protects each packet, cleartext none: neither has TLS records",
    ),
    (
        lambda s: s.http_version != "h3" and s.quic_packet_bytes != QUIC_PACKET_BYTES,
        "`quic_packet_bytes` is QUIC's: the kernel cuts TCP's segments to the path",
    ),
    (
        lambda s: (
            s.tls_version == "none"
            and (s.certificate_chain_bytes is not None or s.certificate_key != "ecdsa")
        ),
        "`certificate_chain_bytes` and `certificate_key` need TLS: cleartext has no certificate",
    ),
    (
        lambda s: s.http_version == "h3" and s.tls_version != "1.3",
        "`tls_version`: QUIC has TLS 1.3 only",
    ),
    (
        lambda s: s.http_version == "h2" and s.tls_version == "none",
        "`tls_version`: browsers speak HTTP/2 over TLS only; without TLS use HTTP/1.1",
    ),
    (
        lambda s: s.early_data and s.tls_version != "1.3",
        "`early_data` needs TLS 1.3",
    ),
    (
        lambda s: s.header_table_bytes is not None and s.http_version == "h1",
        "`header_table_bytes`: HTTP/1.1 compresses no header",
    ),
    (
        lambda s: s.http_version == "h2" and (s.header_table_bytes or 0) > HEADER_TABLE_BYTES,
        f"`header_table_bytes`: our HTTP/2 server compresses with at most {HEADER_TABLE_BYTES}",
    ),
    (
        lambda s: s.blocked_streams_max is not None and s.http_version != "h3",
        "`blocked_streams_max` is QPACK's, of h3: HPACK's table is read in order",
    ),
    (
        lambda s: (
            s.server is not None
            and (s.header_table_bytes is not None or s.blocked_streams_max is not None)
        ),
        "`header_table_bytes` and `blocked_streams_max` are our servers': somebody else's "
        "compresses as it does",
    ),
    (
        lambda s: s.http_version != "h3" and s.congestion_control not in KERNEL_CONGESTION_CONTROLS,
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
"""What cannot be had, each with its reason."""


def stack_settings(stack: Stack, network: Network) -> dict[str, Any]:
    """The lab's `stack` without its name: what is in force on this network, and what is hashed.

    A setting that came later is left out where it is as it always was: hashes stay.
    """
    return {
        "http_version": stack.http_version,
        "congestion_control": stack.congestion_control,
        "initial_window_packets": stack.initial_window_packets,
        "pacing": stack.pacing,
        "slow_start_after_idle": stack.slow_start_after_idle,
        "ecn": stack.ecn,
        "receive_window_bytes": stack.receive_window_bytes,
        "unsent_bytes_max": _unsent_bytes_max(stack, network),
        "tls_record_bytes": stack.tls_record_bytes,
        "quic_packet_bytes": stack.quic_packet_bytes,
        "tls_version": stack.tls_version,
        "probe_gain": stack.probe_gain,
        "header_table_bytes": _header_table_bytes(stack),
        "blocked_streams_max": _blocked_streams_max(stack),
        "early_data": stack.early_data,
        "priorities": stack.priorities,
        "certificate_key": stack.certificate_key,
        "certificate_chain_bytes": stack.certificate_chain_bytes,
        "coalescing": stack.coalescing,
        "think_time": stack.think_time,
        **({} if stack.names_alt_svc is None else {"alt_svc": stack.names_alt_svc}),
        **({} if stack.session_tickets is None else {"session_tickets": stack.session_tickets}),
        **({"server": _of_server(stack.server)} if stack.server else {}),
        **({"sprout_horizon": stack.sprout_horizon} if stack.sprout_horizon else {}),
    }


def _of_server(server: ExternalServer) -> dict[str, Any]:
    return {"command": list(server.command), "protocols": list(server.protocols)}


def lab_stack(stack: Stack, network: Network) -> dict[str, Any]:
    """The lab's `stack` object (spec/lab-events.md) on this network."""
    return {"name": stack.name} | stack_settings(stack, network)


def _unsent_bytes_max(stack: Stack, network: Network) -> int | None:
    """A rate of 0 is a direction without a link."""
    if stack.unsent_bytes_max is not None or stack.http_version == "h1" or stack.server:
        return stack.unsent_bytes_max
    slow = 0 < network.rate_down_bit_s <= UNSENT_RATE_BIT_S_MAX
    return UNSENT_BYTES_MAX if slow else None


def _header_table_bytes(stack: Stack) -> int | None:
    if stack.http_version == "h1" or stack.server:
        return None
    given = stack.header_table_bytes
    return HEADER_TABLE_BYTES if given is None else given


def _blocked_streams_max(stack: Stack) -> int | None:
    if stack.http_version != "h3" or stack.server:
        return None
    given = stack.blocked_streams_max
    return BLOCKED_STREAMS_MAX if given is None else given


ARRIVALS_BY_ACKS = "ACK arrivals"
ARRIVALS_BY_TIMESTAMPS = "receive timestamps"


def congestion_control_said(settings: Mapping[str, Any]) -> str:
    """The congestion control in force, with what makes it another algorithm.

    Sprout-EWMA follows the times at which packets arrive. A browser does not report them: over a
    real connection they are those of its acknowledgements, and results say so.
    """
    if settings["congestion_control"] != "sprout_ewma":
        return str(settings["congestion_control"])
    gain = f", probe gain {settings['probe_gain']:g}" if settings.get("probe_gain") else ""
    horizon = ", min(100 ms, RTT)" if settings.get("sprout_horizon") == "min" else ""
    return f"sprout_ewma ({ARRIVALS_BY_ACKS}){gain}{horizon}"
