"""Compute a stack's values from one load of the generated page: its record and path logs; pure."""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np

from eyelevel.analysis.pathlog.packets import Arrivals
from eyelevel.base.json_types import JsonMapping
from eyelevel.calibration.level.classes import Value
from eyelevel.calibration.level.generated_page import HOST, LATE_SCRIPT, ORDER, kind_of
from eyelevel.calibration.level.transfer_values import DATA_PACKET_BYTES_MIN

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
    """Return the values by name, without those that this load lacks."""
    low = [waited.held_ms for waited in scheduled.waited if waited.may_be_held]
    high = [waited.held_ms for waited in scheduled.waited if not waited.may_be_held]
    requests = sorted(record["requests"], key=lambda request: request["at_ns"])
    connections = record["connections"]
    # Requests to the other host wait for its handshake, which is an aspect of its own.
    paths = [_path(request) for request in requests if urlsplit(request["url"]).netloc == HOST]
    used = {request["connection"] for request in requests}
    values: dict[str, Value | None] = {
        "connections": float(len(connections)),
        "unused_connections": float(len(connections) - len(used)),
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
        "resumed": float(
            sum(bool(connection["in_force"]["resumed"]) for connection in connections)
        ),
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
    data = (down.wire_bytes >= DATA_PACKET_BYTES_MIN) & (down.released_ns > 0)
    came_ns, went_ns = down.released_ns[data], np.sort(up.at_ns)
    following = np.searchsorted(went_ns, came_ns)
    answered = following < len(went_ns)
    if not answered.any():
        return None
    return float((went_ns[following[answered]] - came_ns[answered]).max()) / 1e6


def _most_common(sizes: object) -> float | None:
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
