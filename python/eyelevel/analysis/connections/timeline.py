"""One connection of a trial on the page's own clock: handshake, transport and objects."""

from dataclasses import dataclass
from pathlib import Path

from eyelevel.analysis.connections.transport import Transport, parse_qlog, parse_tcp_info
from eyelevel.base.errors import ConnectionLogError
from eyelevel.base.from_outside.files import read_bytes
from eyelevel.base.from_outside.limits import LOG
from eyelevel.base.from_outside.source import Source
from eyelevel.base.json_types import JsonMapping
from eyelevel.store.directory import LOGS, StoredTrial
from eyelevel.store.unused_connections import UnusedConnections, count_unused_connections


@dataclass(frozen=True)
class Fetched:
    """One object that came over the connection; times in ms from navigation start."""

    url: str
    started_ms: float
    sent_ms: float | None
    response_ms: float | None
    finished_ms: float | None
    body_bytes: int


@dataclass(frozen=True)
class Timeline:
    """One connection over time, in ms from navigation start.

    `connect_ms` are start and end by the browser, None if no object waited for it. `accepted_ms`
    and `ready_ms` are when the server accepted the connection (over TCP after its handshake), and
    when TLS's or QUIC's handshake was complete. `transport` is None without a log of it.
    """

    stack: str
    connection: int
    protocol: str
    scheme: str | None
    """`http`: in cleartext; None: not in the record, which an earlier version wrote."""
    address: str
    connect_ms: tuple[float, float] | None
    accepted_ms: float | None
    ready_ms: float | None
    objects: tuple[Fetched, ...]
    transport: Transport | None
    in_force: JsonMapping
    page_load_time_ms: float | None
    network: str
    site: str
    outcome: str
    opened: UnusedConnections | None
    """Counts of the load's opened and unused connections."""


def busiest_connection(trial: StoredTrial) -> int:
    """Return the connection that sent most. Raises ConnectionLogError if there is none."""
    connections = trial.record["connections"]
    if not connections:
        raise ConnectionLogError(
            f"{trial.path}: this load had no connection to explain; name another load"
        )
    busiest = max(connections, key=lambda connection: connection["in_force"]["sent_bytes"] or 0)
    return int(busiest["connection"])


def timeline_of(trial: StoredTrial, connection: int) -> Timeline:
    """Return one connection's timeline.

    Raises ConnectionLogError if there is no such connection or its log is damaged.
    """
    record = trial.record
    logged = {entry["connection"]: entry for entry in record["connections"]}
    if connection not in logged:
        numbers = ", ".join(map(str, logged))
        raise ConnectionLogError(
            f"{trial.path}: there is no connection {connection}; "
            f"this load had {numbers or 'none'}; name one of these"
        )
    entry = logged[connection]
    zero_ns = record["browser"].get("navigation_start_ns")
    if zero_ns is None:
        raise ConnectionLogError(
            f"{trial.path}: the load did not get as far as its navigation; name another load"
        )

    def since_start(at_ns: int | None) -> float | None:
        return None if at_ns is None else (at_ns - zero_ns) / 1e6

    bodies = {
        request["url"]: request["body_bytes"]
        for request in record["requests"]
        if request["connection"] == connection
    }
    objects = [
        item for item in record["objects"] if item["url"] in bodies and item["from"] == "network"
    ]
    transport = _transport(trial, entry)
    return Timeline(
        stack=record["trial"]["stack"],
        connection=connection,
        protocol=entry["protocol"],
        scheme=entry.get("scheme"),
        address=entry["address"] or "",
        connect_ms=_connect(objects),
        accepted_ms=since_start(entry["accepted_at_ns"]),
        ready_ms=since_start(entry["ready_at_ns"]),
        objects=tuple(_as_fetched(item, bodies[item["url"]]) for item in objects),
        transport=transport and _shift(transport, zero_ns / 1e6),
        in_force=entry["in_force"],
        page_load_time_ms=(record["navigation"] or {}).get("page_load_time_ms"),
        network=record["trial"]["network"],
        site=record["trial"]["site"],
        outcome=record["outcome"],
        opened=count_unused_connections(record),
    )


def _connect(objects: list[JsonMapping]) -> tuple[float, float] | None:
    waited = [item["connect_ms"] for item in objects if item["connect_ms"]]
    if not waited:
        return None
    start, end = min(waited)
    return start, end


def _as_fetched(item: JsonMapping, body_bytes: int) -> Fetched:
    return Fetched(
        item["url"],
        item["started_ms"],
        item["sent_ms"],
        item["response_ms"],
        item["finished_ms"],
        body_bytes,
    )


def _transport(trial: StoredTrial, entry: JsonMapping) -> Transport | None:
    folder = trial.path / LOGS
    number = entry["connection"]
    if entry["protocol"] == "h3":
        file = folder / f"connection-{number}.sqlog"
        return parse_qlog(_log(file), str(file)) if file.exists() else None
    file = folder / "tcp-info.jsonl"
    return parse_tcp_info(_log(file), number, str(file)) if file.exists() else None


def _log(file: Path) -> bytes:
    return read_bytes(file, Source(str(file), LOG, ConnectionLogError))


def _shift(transport: Transport, zero_ms: float) -> Transport:
    return Transport(
        tuple(at_ms - zero_ms for at_ms in transport.at_ms),
        transport.window_bytes,
        transport.in_flight_bytes,
        transport.rtt_ms,
        tuple((at_ms - zero_ms, count) for at_ms, count in transport.losses),
    )
