"""Protocol stacks: one table of presets, and how a stack becomes the lab's object."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from eyelevel.networks import Network

HttpVersion = Literal["h1", "h2", "h3"]
TlsVersion = Literal["none", "1.2", "1.3"]
CertificateKey = Literal["ecdsa", "rsa"]
CongestionControl = Literal["cubic", "bbr", "reno", "cubic-hystart++", "sprout_ewma"]
SproutHorizon = Literal["max", "min"]
"""Of 100 ms and the smallest round trip time: `max` as in Das's code, `min` as in his text."""
ThinkTime = Literal["none", "recorded"] | float
"""`none`, as in the papers; `recorded`; or milliseconds."""
Visit = Literal["first", "repeat", "warm"]
"""`repeat`: a second one, with warm session tickets and a cold HTTP cache; `warm`: over the
connections that the first one left open, too."""

KERNEL_CONGESTION_CONTROLS: tuple[CongestionControl, ...] = ("cubic", "bbr", "reno")
"""What the kernel's TCP has; the other controllers are ours and exist over QUIC alone."""

# Small records reach the page sooner on slow links: 16 kB take 280 ms at 0.468 Mbit/s before their
# first byte can be read.
TLS_RECORD_BYTES = 4096
# The largest UDP payload that fits 1500-byte packets over IPv4 and IPv6, as full TCP segments do.
QUIC_PACKET_BYTES = 1452
# Wolsing et al. 2019, table 1: twice the bandwidth-delay product; 4 MB where that is less.
TUNED_BUFFER_BDP_FACTOR = 2.0
TUNED_BUFFER_BYTES_MIN = 4 * 2**20


OWN_SERVER_MARK = "@own"
"""Ends the name of a stack that somebody else's server serves, in every table."""


@dataclass(frozen=True)
class OwnServer:
    """A server that is not ours: its command, run on the servers' side of the lab, and the HTTP
    versions that it speaks."""

    command: tuple[str, ...]
    protocols: tuple[HttpVersion, ...]


@dataclass(frozen=True)
class Stack:
    """One protocol stack with its tuning.

    `buffer_bytes_max`: the largest TCP buffer of both ends. When it is None it follows from
    `buffer_bdp_factor` (times the path's bandwidth-delay product, at least `buffer_bytes_min`);
    when that is None too, it is the kernel's. `preset`: the table's entry that it came from.
    """

    name: str
    preset: str
    http_version: HttpVersion
    congestion_control: CongestionControl
    initial_window_packets: int
    pacing: bool
    slow_start_after_idle: bool
    buffer_bytes_max: int | None = None
    buffer_bdp_factor: float | None = None
    buffer_bytes_min: int = TUNED_BUFFER_BYTES_MIN
    tls_record_bytes: int = TLS_RECORD_BYTES
    quic_packet_bytes: int = QUIC_PACKET_BYTES
    tls_version: TlsVersion = "1.3"
    probe_gain: float | None = None
    sprout_horizon: SproutHorizon | None = None
    header_table_bytes: int | None = None
    early_data: bool = False
    priorities: bool = True
    certificate_key: CertificateKey = "ecdsa"
    certificate_chain_bytes: int | Literal["recorded"] | None = None
    coalescing: bool = True
    think_time: ThinkTime = "none"
    visit: Visit | None = None
    """None: the plan's."""
    server: OwnServer | None = None
    """None: ours."""

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
        lambda s: s.http_version == "h3" and s.buffer_bytes_max is not None,
        "`buffer_bytes_max` sets TCP buffers: a stack over QUIC has none",
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
        lambda s: s.header_table_bytes is not None and s.http_version != "h2",
        "`header_table_bytes` is HPACK's, of h2: HTTP/1.1 compresses no header, and the HTTP/3 "
        "library has QPACK's static table alone",
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

TCP_FAST_OPEN = (
    "TCP Fast Open cannot be had: Chromium has none, so no page would load over it; "
    "`early_data` saves a round trip of repeat visits"
)


def _stock_tcp(name: str, http_version: HttpVersion) -> Stack:
    return Stack(name, name, http_version, "cubic", 10, False, True)


def _tuned(name: str, http_version: HttpVersion, congestion_control: CongestionControl) -> Stack:
    factor = None if http_version == "h3" else TUNED_BUFFER_BDP_FACTOR
    return Stack(name, name, http_version, congestion_control, 32, True, False, None, factor)


def _changed(base: Stack, name: str, **changes: Any) -> Stack:
    return replace(base, name=name, preset=name, **changes)


_TCP_TUNED = _tuned("tcp+", "h2", "cubic")
_QUIC = _tuned("quic", "h3", "cubic")

STACKS: tuple[Stack, ...] = (
    _changed(_stock_tcp("http1", "h1"), "http1-plain", tls_version="none"),
    _stock_tcp("http1", "h1"),
    _stock_tcp("tcp", "h2"),
    _TCP_TUNED,
    _tuned("tcp+bbr", "h2", "bbr"),
    _changed(_TCP_TUNED, "tcp+tls1.2", tls_version="1.2"),
    _QUIC,
    _tuned("quic+bbr", "h3", "bbr"),
    # Published: an unpaced window that follows the rate at which packets arrive (Das 2014, 4.2.2).
    _changed(_QUIC, "quic+sprout", congestion_control="sprout_ewma", pacing=False),
    _changed(_TCP_TUNED, "tcp+0rtt", early_data=True),
    _changed(_QUIC, "quic+0rtt", early_data=True),
)

REFUSED_PRESETS: dict[str, str] = {
    "tcp+tfo": TCP_FAST_OPEN,
}
"""Presets that are asked for and cannot be had, with the reason."""

STACKS_BY_NAME: dict[str, Stack] = {stack.name: stack for stack in STACKS}


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
        "buffer_bytes_max": _buffer_bytes_max(stack, network),
        "tls_record_bytes": stack.tls_record_bytes,
        "quic_packet_bytes": stack.quic_packet_bytes,
        "tls_version": stack.tls_version,
        "probe_gain": stack.probe_gain,
        "header_table_bytes": stack.header_table_bytes,
        "early_data": stack.early_data,
        "priorities": stack.priorities,
        "certificate_key": stack.certificate_key,
        "certificate_chain_bytes": stack.certificate_chain_bytes,
        "coalescing": stack.coalescing,
        "think_time": stack.think_time,
        **({"server": _of_server(stack.server)} if stack.server else {}),
        **({"sprout_horizon": stack.sprout_horizon} if stack.sprout_horizon else {}),
    }


def _of_server(server: OwnServer) -> dict[str, Any]:
    return {"command": list(server.command), "protocols": list(server.protocols)}


def lab_stack(stack: Stack, network: Network) -> dict[str, Any]:
    """The lab's `stack` object (spec/lab-events.md) on this network."""
    return {"name": stack.name} | stack_settings(stack, network)


def _buffer_bytes_max(stack: Stack, network: Network) -> int | None:
    if stack.buffer_bytes_max is not None or stack.buffer_bdp_factor is None:
        return stack.buffer_bytes_max
    wanted = math.ceil(stack.buffer_bdp_factor * network.bandwidth_delay_product_bytes())
    return max(wanted, stack.buffer_bytes_min)
