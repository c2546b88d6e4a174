"""The connections of a trial from its logs, TCP and QUIC in one form.

One connection of a trial on the page's own clock: handshake, transport and objects.

A sender's state over time, in one form for TCP and QUIC.

TCP's is in `tcp-info.jsonl`, samples of the kernel's TCP_INFO. QUIC's is a qlog: JSON text
sequences (RFC 7464, draft-ietf-quic-qlog-main-schema), in which an event has only the recovery
metrics that changed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from eyelevel.base.errors import ConnectionLogError, OutsideError
from eyelevel.base.from_outside.files import read_bytes
from eyelevel.base.from_outside.json_text import parse_json
from eyelevel.base.from_outside.limits import DOCUMENT, LOG
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.store.directory import LOGS, StoredTrial
from eyelevel.store.unused_connections import UnusedConnections, count_unused_connections
from eyelevel.store.values import OBSERVED, Count, Integer, Milliseconds, Nanoseconds

RECORD_SEPARATOR = b"\x1e"
METRICS = "quic:recovery_metrics_updated"
LOST = "quic:packet_lost"


@with_config(OBSERVED)
class _Sample(TypedDict):
    """A line of `tcp-info.jsonl`."""

    at_ns: Nanoseconds
    connection: Integer
    retransmitted_packets: Count
    window_packets: Count
    segment_bytes: Count
    in_flight_packets: Count
    rtt_us_smoothed: Milliseconds | None


_SAMPLE: TypeAdapter[_Sample] = TypeAdapter(_Sample)


@dataclass(frozen=True)
class Transport:
    """A sender's state, at times in ms of `CLOCK_MONOTONIC`; the round trip is the smoothed one.

    `losses` are the times at which packets were deemed lost (QUIC) or retransmitted (TCP), with
    their numbers.
    """

    at_ms: tuple[float, ...]
    window_bytes: tuple[int, ...]
    in_flight_bytes: tuple[int, ...]
    rtt_ms: tuple[float | None, ...]
    losses: tuple[tuple[float, int], ...]


def parse_tcp_info(content: bytes, connection: int, name: str) -> Transport:
    """Return the kernel's samples of one TCP connection; a truncated last line is ignored.

    Raises ConnectionLogError for a line that is not JSON.
    """
    samples = [sample for sample in _samples(content, name) if sample["connection"] == connection]
    losses = []
    known_lost = 0
    for sample in samples:
        if sample["retransmitted_packets"] > known_lost:
            losses.append((sample["at_ns"] / 1e6, sample["retransmitted_packets"] - known_lost))
            known_lost = sample["retransmitted_packets"]
    return Transport(
        tuple(sample["at_ns"] / 1e6 for sample in samples),
        tuple(sample["window_packets"] * sample["segment_bytes"] for sample in samples),
        tuple(sample["in_flight_packets"] * sample["segment_bytes"] for sample in samples),
        tuple(
            None if sample["rtt_us_smoothed"] is None else sample["rtt_us_smoothed"] / 1e3
            for sample in samples
        ),
        tuple(losses),
    )


def parse_qlog(content: bytes, name: str) -> Transport:
    """Parse a qlog of a QUIC connection; a truncated last record is ignored.

    Raises ConnectionLogError for anything else that is not a qlog.
    """
    at_ms: list[float] = []
    windows: list[int] = []
    in_flight: list[int] = []
    rtts: list[float | None] = []
    losses: dict[float, int] = {}
    metrics: JsonObject = {}
    initial_rtt: float | None = None
    for event in _events(content, name):
        now = float(event["time"])
        if event["name"] == LOST:
            losses[now] = losses.get(now, 0) + 1
        if event["name"] != METRICS:
            continue
        metrics.update(event["data"])
        smoothed = metrics.get("smoothed_rtt")
        # Before the first sample it is a default (RFC 9002, section 6.2.2), not a measurement.
        if initial_rtt is None:
            initial_rtt = smoothed
        at_ms.append(now)
        windows.append(int(metrics.get("congestion_window", 0)))
        in_flight.append(int(metrics.get("bytes_in_flight", 0)))
        rtts.append(None if smoothed == initial_rtt else smoothed)
    return Transport(
        tuple(at_ms), tuple(windows), tuple(in_flight), tuple(rtts), tuple(sorted(losses.items()))
    )


def _samples(content: bytes, name: str) -> list[_Sample]:
    lines = content.split(b"\n")
    samples = []
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            samples.append(_SAMPLE.validate_json(line))
        except ValidationError as error:
            if number == len(lines):
                break
            first = error.errors()[0]
            what = "JSON" if first["type"] == "json_invalid" else "sample"
            raise ConnectionLogError(
                f"reading {name}: line {number} is no {what} ({excerpt(first['msg'])}); "
                "load it again"
            ) from error
    return samples


def _events(content: bytes, name: str) -> Iterator[JsonObject]:
    head, *records = [text for text in content.split(RECORD_SEPARATOR) if text.strip()] or [b""]
    if b"qlog" not in head:
        raise ConnectionLogError(f"reading {name}: it does not begin as a qlog does; load it again")
    for number, text in enumerate(records, start=1):
        try:
            event = parse_json(text, Source(f"reading {name}: record {number}", DOCUMENT))
        except OutsideError as error:
            if number == len(records) and not text.endswith(b"\n"):
                return
            raise ConnectionLogError(str(error)) from error
        if isinstance(event, dict) and {"time", "name", "data"} <= event.keys():
            if event["name"] == METRICS:
                _check_metrics(event["data"], f"reading {name}: record {number}")
            if not _is_number(event["time"]):
                raise ConnectionLogError(f"reading {name}: record {number} has no time")
            yield event


def _check_metrics(data: object, place: str) -> None:
    if not isinstance(data, dict):
        raise ConnectionLogError(f"{place} has no metrics; it is damaged, so load it again")
    for key in ("smoothed_rtt", "congestion_window", "bytes_in_flight"):
        if not _is_number(data.get(key, 0)):
            raise ConnectionLogError(
                f"{place}: `{key}` is not a number; it is damaged, so load it again"
            )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15


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
