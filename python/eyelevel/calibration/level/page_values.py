"""Compute a stack's values from one load of the generated page, or one transfer; pure.

A load has a record and path logs, a transfer the report of our own client and a log.
"""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from eyelevel.analysis.pathlog import Arrivals
from eyelevel.base.json_types import JsonMapping
from eyelevel.calibration.level.classes import Value
from eyelevel.calibration.level.generated_page import HOST, LATE_SCRIPT, ORDER, kind_of

Record = JsonMapping


@dataclass(frozen=True)
class Waited:
    """A request in the browser's scheduler.

    `may_be_held`: whether the browser delays requests of its priority; `held_ms`: its time there
    after its host's first response, so that the handshake's round trips are excluded.
    """

    may_be_held: bool
    held_ms: float


@dataclass(frozen=True)
class Scheduled:
    """The scheduling of a page's requests, from the network log.

    It has all requests, how many were delayed, and the most low-priority requests to one host at
    once.
    """

    waited: Sequence[Waited]
    held_back: int
    in_flight_max: int


def page_values(
    record: Record, scheduled: Scheduled, down: Arrivals, up: Arrivals
) -> dict[str, Value]:
    """Return the values by name, without those that this load lacks.

    A load of an external server has neither requests nor connections from its server.
    """
    low = [waited.held_ms for waited in scheduled.waited if waited.may_be_held]
    high = [waited.held_ms for waited in scheduled.waited if not waited.may_be_held]
    requests = sorted(record["requests"], key=lambda request: request["at_ns"])
    connections = record["connections"]
    # Requests to the other host wait for its handshake, which is an aspect of its own.
    paths = [_path(request) for request in requests if urlsplit(request["url"]).netloc == HOST]
    used = {request["connection"] for request in requests}
    counts: dict[str, Value] = {
        "connections": float(len(connections)),
        "unused_connections": float(len(connections) - len(used)),
        "resumed": float(
            sum(bool(connection["in_force"]["resumed"]) for connection in connections)
        ),
    }
    values: dict[str, Value | None] = {
        **(counts if connections else {}),
        "order_share": order_share(paths),
        "late_script_place": late_script_place(paths),
        "priorities": priorities(requests),
        "scheduler_ms_p50": float(np.median(low)) if low else None,
        "scheduler_ms_p90": float(np.quantile(low, 0.9)) if low else None,
        "scheduler_important_ms_p90": float(np.quantile(high, 0.9)) if high else None,
        "held_back": float(scheduled.held_back),
        "in_flight_max": float(scheduled.in_flight_max),
        "connection_type": record["browser"]["effective_connection_type"],
        "first_byte_ms": _first_byte_ms(record["objects"]),
        "page_connect_ms": _page_connect_ms(record["objects"]),
        "ecn_share_down": down.capable_share,
        "ecn_share_up": up.capable_share,
        "head_bytes_down": _sum(connections, "response_head_bytes", "encoder_sent_bytes"),
        "head_bytes_up": _sum(connections, "request_head_bytes", "encoder_received_bytes"),
        "client_window_bytes": _median(
            _collect_reported_values(connections, "receive_window_bytes")
        ),
        "window_limited_ms": _total(connections, "receive_window_limited_ms"),
        "buffer_limited_ms": _total(connections, "send_buffer_limited_ms"),
        "unsent_bytes_max": unsent_bytes_max(connections),
        "packets_up_per_down": len(up.at_ns) / len(down.at_ns) if len(down.at_ns) else None,
        "ack_delay_ms_max": _ack_delay_ms_max(down, up),
        "packet_bytes": _most_common(down.wire_bytes),
        "handshake_bytes": _handshake_bytes(requests, connections),
        "cipher": _ciphers(connections),
        "server_ms": _server_ms(requests),
    }
    return {name: value for name, value in values.items() if value is not None}


def _path(request: JsonMapping) -> str:
    return str(urlsplit(request["url"]).path)


def order_share(paths: Sequence[str]) -> float | None:
    """Return the share of pairs of different kinds that arrived in another order than `ORDER`.

    Pairs of images do not count, as their order does not matter.
    """
    known = [path for path in paths if path in ORDER]
    places = np.array([ORDER[path] for path in known])
    kinds = np.array([kind_of(path) for path in known])
    pairs = turned = 0
    for rank, (place, kind) in enumerate(zip(places, kinds, strict=True)):
        others = kinds[rank + 1 :] != kind
        pairs += int(others.sum())
        turned += int((others & (places[rank + 1 :] < place)).sum())
    return turned / pairs if pairs else None


def late_script_place(paths: Sequence[str]) -> float | None:
    """Return the number of requests before the late script's; None if it was not requested."""
    return float(paths.index(LATE_SCRIPT)) if LATE_SCRIPT in paths else None


def priorities(requests: Sequence[JsonMapping]) -> str | None:
    """Return the priorities by kind, such as `font u=0 x6, image u=3, i x60`.

    None if the protocol has no priorities.
    """
    counts = Counter((kind_of(_path(request)), request["priority"]) for request in requests)
    if not counts or any(priority is None for _, priority in counts):
        return None
    ordered = sorted(counts.items(), key=lambda each: (each[0][0], str(each[0][1])))
    return "; ".join(
        f"{kind} {priority or 'default'} x{count}" for (kind, priority), count in ordered
    )


def _page_connect_ms(objects: Sequence[JsonMapping]) -> float | None:
    """Return the handshake's time of the page's own connection, TLS included, in the browser."""
    page = next((item for item in objects if item["resource_type"] == "Document"), None)
    if page is None or page["connect_ms"] is None:
        return None
    began_ms, ended_ms = page["connect_ms"]
    return float(ended_ms - began_ms)


def _first_byte_ms(objects: Sequence[JsonMapping]) -> float | None:
    """Return the page's own time to first byte: from sending its request to its response's head."""
    page = next((item for item in objects if item["resource_type"] == "Document"), None)
    if page is None or page["sending_ms"] is None or page["response_ms"] is None:
        return None
    return float(page["response_ms"] - page["sending_ms"])


def _sum(connections: Sequence[JsonMapping], name: str, beside: str) -> float | None:
    """Return the sum over all connections of encoded heads and (QPACK only) table insertions."""
    in_force = [
        facts for connection in connections if (facts := connection["in_force"])[name] is not None
    ]
    return (
        float(sum(facts[name] + (facts.get(beside) or 0) for facts in in_force))
        if in_force
        else None
    )


def unsent_bytes_max(connections: Sequence[JsonMapping]) -> float | None:
    """Return the largest value of any connection; None if none reports it."""
    return max(_collect_reported_values(connections, "unsent_bytes_max"), default=None)


def _collect_reported_values(connections: Sequence[JsonMapping], name: str) -> list[float]:
    """Return the values of the connections that report it."""
    numbers = (connection["in_force"][name] for connection in connections)
    return [float(number) for number in numbers if number is not None]


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _total(connections: Sequence[JsonMapping], name: str) -> float | None:
    numbers = _collect_reported_values(connections, name)
    return sum(numbers) if numbers else None


def _ack_delay_ms_max(down: Arrivals, up: Arrivals) -> float | None:
    """Return the longest time from the arrival of a packet with data to the next packet up."""
    data = (down.wire_bytes >= _DATA_PACKET_BYTES_MIN) & (down.released_ns > 0)
    came_ns, went_ns = down.released_ns[data], np.sort(up.at_ns)
    following = np.searchsorted(went_ns, came_ns)
    answered = following < len(went_ns)
    if not answered.any():
        return None
    return float((went_ns[following[answered]] - came_ns[answered]).max()) / 1e6


def _most_common(sizes: NDArray[np.int64]) -> float | None:
    if not len(sizes):
        return None
    values, counts = np.unique(sizes, return_counts=True)
    return float(values[int(counts.argmax())])


def _handshake_bytes(
    requests: Sequence[JsonMapping], connections: Sequence[JsonMapping]
) -> float | None:
    """Return the handshake bytes of the connection that carried the page itself."""
    if not requests:
        return None
    number = requests[0]["connection"]
    of_page = next(connection for connection in connections if connection["connection"] == number)
    sent = of_page["in_force"]["handshake_sent_bytes"]
    return None if sent is None else float(sent)


def _ciphers(connections: Sequence[JsonMapping]) -> str | None:
    """Return the ciphers of used connections, each once."""
    seen = {
        f"{in_force['cipher']}, {in_force['key_exchange']}"
        for connection in connections
        if (in_force := connection["in_force"])["cipher"]
    }
    return " | ".join(sorted(seen)) or None


def _server_ms(requests: Sequence[JsonMapping]) -> float | None:
    times = [request["server_us"] / 1e3 for request in requests]
    return statistics.median(times) if times else None


_DATA_PACKET_BYTES_MIN = 81
"""The least bytes of a packet with data: a segment that only acknowledges has at most 80, such a
QUIC packet about 70."""
FLIGHT_GAP_RTT_SHARE = 0.4
"""Flights are separated by gaps of this share of a round trip; paced packets are closer."""
FLIGHT_PACKETS_MIN = 8
"""The fewest packets of a first flight of bulk data; a handshake has fewer at once."""


LIMITED = {
    "window_limited_ms": "receive_window_limited_ms",
    "buffer_limited_ms": "send_buffer_limited_ms",
}
"""The names in `in_force` of the times in which a server was limited."""


def bulk_values(
    report: JsonMapping, in_force: JsonMapping, down: Arrivals, rtt_ms: float
) -> dict[str, Value]:
    """Return the values by name, without those that this transfer lacks.

    `in_force`: our server's report on the connection; empty for an external server.
    """
    values: dict[str, Value] = {
        "connect_ms": float(report["connect_ms"]),
        "tickets": float(report["tickets"]),
    }
    if report["certificate_bytes"] is not None:  # cleartext has none
        values["certificate_bytes"] = float(report["certificate_bytes"])
    if (share := down.capable_share) is not None:
        values["ecn_share_down"] = share
    for value, name in LIMITED.items():
        if (limited_ms := in_force.get(name)) is not None:
            values[value] = float(limited_ms)
    flight = first_flight(down, rtt_ms)
    if flight is not None:
        values["first_flight_packets"] = float(len(flight))
        values["first_flight_ms"] = float(down.at_ns[flight[-1]] - down.at_ns[flight[0]]) / 1e6
    return values


def read_arrival_ns(request: JsonMapping) -> int:
    """Return when a request had arrived, by our server's event."""
    return int(request["at_ns"] - request["server_us"] * 1000)


def find_arrival_ns(report: JsonMapping, up: Arrivals) -> int | None:
    """Return when the urgent request arrived at a server, by the path's log alone.

    It is the first packet with data that the client sent after the call; None if there is none.
    """
    data = up.wire_bytes >= _DATA_PACKET_BYTES_MIN
    sent = np.flatnonzero(data & (up.at_ns >= report["asked_ns"]) & (up.released_ns > 0))
    return int(up.released_ns[sent[0]]) if len(sent) else None


def late_values(report: JsonMapping, came_ns: int, down: Arrivals) -> dict[str, Value]:
    """Return the values of an urgent request during a transfer: `late_bytes` and `late_ms`.

    The bytes are those that left the server between the request's arrival (`came_ns`) and the
    packet with its first byte, the time is from the request to that byte.
    """
    read = np.flatnonzero((down.released_ns > 0) & (down.released_ns <= report["first_byte_ns"]))
    if not len(read):
        return {}
    between = np.arange(len(down.at_ns)) < read[-1]
    between &= down.at_ns >= came_ns
    return {
        "late_bytes": float(down.wire_bytes[between].sum()),
        "late_ms": (report["first_byte_ns"] - report["asked_ns"]) / 1e6,
    }


def first_flight(down: Arrivals, rtt_ms: float) -> Any:
    """Return the positions of the data packets of the first flight after the handshake, or None.

    A flight ends at a pause of a share of the round trip, or after one round trip: later packets
    are responses to acknowledgements.
    """
    data = np.flatnonzero(down.wire_bytes >= _DATA_PACKET_BYTES_MIN)
    at_ms = down.at_ns[data] / 1e6
    gaps = np.flatnonzero(np.diff(at_ms) > FLIGHT_GAP_RTT_SHARE * rtt_ms) + 1
    for flight in np.split(data, gaps):
        if len(flight) >= FLIGHT_PACKETS_MIN:
            began = down.at_ns[flight[0]]
            first = flight[(down.at_ns[flight] - began) / 1e6 < 0.95 * rtt_ms]
            return first
    return None


def packet_to_lose(down: Arrivals, kind: str, rtt_ms: float) -> int | None:
    """Return the position of the response's last packet, or of one in its middle, by `kind`.

    None if no full packet came. Packets that come later than a share of the round trip after the
    last full one are not part of the response.
    """
    data = np.flatnonzero(down.wire_bytes >= _DATA_PACKET_BYTES_MIN)
    sizes = down.wire_bytes[data]
    common = _most_common(sizes[sizes >= DATAGRAM_BYTES_MIN])
    if common is None:
        return None
    # A larger packet than the common one may be a probe of the path's MTU.
    is_full = sizes >= FULL_PACKET_BYTES_MIN if common >= FULL_PACKET_BYTES_MIN else sizes == common
    full = data[is_full]
    if kind == "middle":
        return int(full[len(full) // 2])
    body = data[sizes >= BODY_PACKET_BYTES_MIN]
    late_ms = (down.at_ns[body] - down.at_ns[full[-1]]) / 1e6
    return int(body[late_ms < FLIGHT_GAP_RTT_SHARE * rtt_ms][-1])


FULL_PACKET_BYTES_MIN = 1400
"""The least bytes of a full packet, which has 1500 over TCP and 1480 over our QUIC; other servers
begin with smaller ones, such as quic-go with 1280."""
BODY_PACKET_BYTES_MIN = 110
"""The least bytes of a packet with some of a body: Go's HTTP/2 ends a stream in a packet of its own
with 83, whose loss costs the body nothing."""
DATAGRAM_BYTES_MIN = 1200
"""The size of a datagram that every path of QUIC carries (RFC 9000 14)."""


def is_intended_loss(down: Arrivals, kind: str, rtt_ms: float) -> bool:
    """Return whether exactly one packet was lost, and it is the intended one.

    That is the response's last packet (`tail`), or one with others after it (`middle`).
    """
    if len(down.dropped) != 1:
        return False
    (lost,) = down.dropped.tolist()
    body = np.flatnonzero(down.wire_bytes >= BODY_PACKET_BYTES_MIN)
    behind_ms = (down.at_ns[body[body > lost]] - down.at_ns[lost]) / 1e6
    followed = bool((behind_ms < FLIGHT_GAP_RTT_SHARE * rtt_ms).any())
    return lost in body and followed == (kind == "middle")


def repair_values(whole: JsonMapping, broken: JsonMapping) -> dict[str, Value]:
    """Return the time that a loss cost."""
    return {"repair_ms": float(broken["duration_ms"]) - float(whole["duration_ms"])}
