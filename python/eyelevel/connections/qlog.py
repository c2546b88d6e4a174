"""Read a QUIC connection's qlog: JSON text sequences (RFC 7464, draft-ietf-quic-qlog-main-schema).

Of the recovery metrics an event holds only those that changed.
"""

import json
from collections.abc import Iterator
from typing import Any

from eyelevel.connections.transport import Transport
from eyelevel.errors import ConnectionLogError

RECORD_SEPARATOR = b"\x1e"
METRICS = "quic:recovery_metrics_updated"
LOST = "quic:packet_lost"


def parse_qlog(content: bytes, name: str) -> Transport:
    """Window, bytes in flight, round trips and losses; a cut-off last record is left aside.

    Raises ConnectionLogError for anything else that is no qlog.
    """
    at_ms: list[float] = []
    windows: list[int] = []
    in_flight: list[int] = []
    rtts: list[float | None] = []
    losses: dict[float, int] = {}
    known: dict[str, Any] = {}
    initial_rtt: float | None = None
    for event in _events(content, name):
        now = float(event["time"])
        if event["name"] == LOST:
            losses[now] = losses.get(now, 0) + 1
        if event["name"] != METRICS:
            continue
        known.update(event["data"])
        smoothed = known.get("smoothed_rtt")
        # Before the first sample it is a guess (RFC 9002, section 6.2.2), and no measurement.
        if initial_rtt is None:
            initial_rtt = smoothed
        at_ms.append(now)
        windows.append(int(known.get("congestion_window", 0)))
        in_flight.append(int(known.get("bytes_in_flight", 0)))
        rtts.append(None if smoothed == initial_rtt else smoothed)
    return Transport(
        tuple(at_ms), tuple(windows), tuple(in_flight), tuple(rtts), tuple(sorted(losses.items()))
    )


def _events(content: bytes, name: str) -> Iterator[dict[str, Any]]:
    head, *records = [text for text in content.split(RECORD_SEPARATOR) if text.strip()] or [b""]
    if b"qlog" not in head:
        raise ConnectionLogError(f"reading {name}: it does not begin as a qlog does")
    for number, text in enumerate(records, start=1):
        try:
            event = json.loads(text)
        except ValueError as error:
            if number == len(records) and not text.endswith(b"\n"):
                return
            raise ConnectionLogError(f"reading {name}: record {number} is no JSON") from error
        if isinstance(event, dict) and {"time", "name", "data"} <= event.keys():
            yield event
