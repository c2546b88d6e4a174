"""What differs between stacks and what does not: one table of aspects, from the lab's settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Settings = Mapping[str, Any]
Kind = Literal["equalised", "inherent", "measured"]
ARRIVALS_BY_ACKS = "ACK arrivals"
ARRIVALS_BY_TIMESTAMPS = "receive timestamps"


@dataclass(frozen=True)
class Aspect:
    """`equalised`: ours to set, so that stacks can be tuned alike; `inherent`: the protocol's;
    `measured`: known from loads alone (`eyelevel.store.measured`)."""

    name: str
    kind: Kind
    of: Callable[[Settings], str]


@dataclass(frozen=True)
class ExplainedRow:
    """An aspect with its value for each stack; `differs`: not all are the same."""

    aspect: str
    kind: Kind
    values: tuple[str, ...]
    differs: bool


def explain(stacks: Sequence[Settings]) -> list[ExplainedRow]:
    """One row an aspect, equalised ones first.

    `stacks` are settings as the lab gets them, with `visit` where it is not the first.
    """
    rows = []
    for aspect in ASPECTS:
        values = tuple(aspect.of(_Complete(settings)) for settings in stacks)
        rows.append(ExplainedRow(aspect.name, aspect.kind, values, len(set(values)) > 1))
    return rows


class _Complete(dict[str, Any]):
    """Settings of older records lack keys that had one value only then."""

    _THEN: Mapping[str, Any] = {
        "tls_version": "1.3",
        "priorities": True,
        "certificate_key": "ecdsa",
        "coalescing": True,
        "think_time": "none",
        "early_data": False,
        "visit": "first",
    }

    def __missing__(self, key: str) -> Any:
        return self._THEN.get(key)


def _visit(s: Settings) -> str:
    meant = {
        "repeat": "repeat: a second load, with TLS tickets",
        "warm": "warm: a second load, over open connections",
    }
    return meant.get(s["visit"], str(s["visit"]))


def _server(s: Settings) -> str:
    server = s.get("server")
    if not server:
        return "eyelevel's"
    return f"somebody else's: {' '.join(server['command'])}; what it does is its own"


def _quic(s: Settings) -> bool:
    return bool(s["http_version"] == "h3")


def congestion_control_said(s: Settings) -> str:
    """The congestion control in force, with what makes it another algorithm.

    Sprout-EWMA follows the times at which packets arrive. A browser does not report them: over a
    real connection they are those of its acknowledgements, and results say so.
    """
    if s["congestion_control"] != "sprout_ewma":
        return str(s["congestion_control"])
    gain = f", probe gain {s['probe_gain']:g}" if s.get("probe_gain") else ""
    horizon = ", min(100 ms, RTT)" if s.get("sprout_horizon") == "min" else ""
    return f"sprout_ewma ({ARRIVALS_BY_ACKS}){gain}{horizon}"


def _pacing(s: Settings) -> str:
    if s["congestion_control"] == "bbr":
        return "BBR's own rate"
    if not s["pacing"]:
        return "none: bursts"
    return "2 windows a round trip in slow start, then 1.2"


def _scheduler(s: Settings) -> str:
    if s["http_version"] == "h1":
        return "one response a connection"
    return "urgency, then order (RFC 9218)" if s["priorities"] else "all in turn"


def _cipher(s: Settings) -> str:
    if s["tls_version"] == "none":
        return "none"
    return "AES-128-GCM"


def _key_share(s: Settings) -> str:
    return {"none": "none", "1.2": "X25519"}.get(s["tls_version"], "X25519MLKEM768")


def _chain(s: Settings) -> str:
    if s["tls_version"] == "none":
        return "none"
    size = s["certificate_chain_bytes"]
    said = {None: "about 1 kB", "recorded": "as large as recorded"}.get(size, f"{size} bytes")
    return f"{s['certificate_key'].upper()}, {said}"


def _names(s: Settings) -> str:
    if s["tls_version"] == "none":
        return "none"
    return "as recorded" if s["coalescing"] else "one"


def _think_time(s: Settings) -> str:
    return s["think_time"] if isinstance(s["think_time"], str) else f"{s['think_time']:g} ms"


def _record(s: Settings) -> str:
    if s["tls_version"] == "none":
        return "none"
    return "one packet" if _quic(s) else f"{s['tls_record_bytes']} bytes"


def _round_trips(s: Settings) -> str:
    if _quic(s):
        return "2"
    return {"none": "2", "1.2": "4", "1.3": "3"}[s["tls_version"]]


def _round_trips_resumed(s: Settings) -> str:
    """TLS 1.2 saves one by resuming (RFC 5246, 7.3), TLS 1.3 none but with early data."""
    if _quic(s):
        return "1, with early data" if s["early_data"] else "2"
    if s["early_data"]:
        return "2, with early data"
    return {"none": "2", "1.2": "3", "1.3": "3"}[s["tls_version"]]


def _header_compression(s: Settings) -> str:
    if s["http_version"] == "h1":
        return "none"
    if _quic(s):
        return "QPACK, static table"
    table = s["header_table_bytes"]
    return f"HPACK, {4096 if table is None else table} bytes for requests"


def _buffers(s: Settings) -> str:
    if _quic(s):
        return "windows of 6 MB a stream, 15 MB"
    size = s["buffer_bytes_max"]
    return "the kernel's" if size is None else f"{size} bytes"


def _by_transport(tcp: str, quic: str) -> Callable[[Settings], str]:
    return lambda s: quic if _quic(s) else tcp


ASPECTS: tuple[Aspect, ...] = (
    Aspect("visit", "equalised", _visit),
    Aspect("server", "equalised", _server),
    Aspect("congestion control", "equalised", congestion_control_said),
    Aspect("initial window", "equalised", lambda s: f"{s['initial_window_packets']} packets"),
    Aspect("pacing", "equalised", _pacing),
    Aspect(
        "slow start after idle",
        "equalised",
        lambda s: "yes" if s["slow_start_after_idle"] else "no",
    ),
    Aspect("scheduler", "equalised", _scheduler),
    Aspect("unsent data below the scheduler", "equalised", lambda s: "at most 24 kB"),
    Aspect("cipher", "equalised", _cipher),
    Aspect("key share", "equalised", _key_share),
    Aspect("certificate chain", "equalised", _chain),
    Aspect("certificate names", "equalised", _names),
    Aspect("server think time", "equalised", _think_time),
    Aspect("protected at once", "inherent", _record),
    Aspect("round trips to the first response", "inherent", _round_trips),
    Aspect("the same on a repeat visit", "inherent", _round_trips_resumed),
    Aspect(
        "server's bytes before the client is proven",
        "inherent",
        _by_transport("not limited", "3 times the client's (RFC 9000, 8.1)"),
    ),
    Aspect(
        "a lost packet holds up",
        "inherent",
        lambda s: {"h1": "one of 6 connections", "h2": "all streams"}.get(
            s["http_version"], "its streams"
        ),
    ),
    Aspect(
        "acknowledged ranges", "inherent", _by_transport("3 (SACK with timestamps)", "all that fit")
    ),
    Aspect(
        "losses found by",
        "inherent",
        _by_transport("RACK, tail probe, timeout", "RFC 9002: 3 packets or 9/8 RTT, probe"),
    ),
    Aspect("header compression", "inherent", _header_compression),
    Aspect(
        "full packet, payload",
        "inherent",
        lambda s: f"{s['quic_packet_bytes']} of UDP" if _quic(s) else "1448 of TCP",
    ),
    Aspect("congestion control runs in", "inherent", _by_transport("kernel", "our process")),
    Aspect("receive buffers", "inherent", _buffers),
)
"""In the order of the table. What is measured (header bytes, acknowledgements, CPU) is in each
record's connections and in `eyelevel validate stacks`."""
