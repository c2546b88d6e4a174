"""Connections that carried no request: opened for nothing, with the bytes that they cost."""

from dataclasses import dataclass

from eyelevel.json_types import JsonMapping


@dataclass(frozen=True, slots=True)
class InVain:
    """Of one load, as its servers saw it."""

    connections: int
    """All that were opened, those in vain included."""
    in_vain: int
    """On which no request ever came."""
    in_handshake: int
    """Of these, those whose TLS or QUIC handshake was never completed."""
    bytes: int
    """Payload of TCP or UDP, up and down, on those in vain, as far as it is known."""


def connections_in_vain(record: JsonMapping) -> InVain | None:
    """None if nobody counted: with servers that are not ours.

    A browser opens connections ahead of requests, and several to a host of which it does not know
    that one is enough. What steps after the load opened is left out, and on a warm visit what the
    one before it did.
    """
    if record["trial"]["stack_settings"]["external_server"]:
        return None
    used = {request["connection"] for request in record["requests"]}
    begin_ns, end_ns = _load_begin_ns(record), _load_end_ns(record)
    opened = [
        connection
        for connection in record["connections"]
        if begin_ns <= connection["accepted_at_ns"]
        and (end_ns is None or connection["accepted_at_ns"] < end_ns)
    ]
    unused = [connection for connection in opened if connection["connection"] not in used]
    return InVain(
        connections=len(opened),
        in_vain=len(unused),
        in_handshake=sum("failure" in connection["in_force"] for connection in unused),
        bytes=sum(
            connection["in_force"][way] or 0
            for connection in unused
            for way in ("sent_bytes", "received_bytes")
        ),
    )


def outlives_visits(record: JsonMapping) -> bool:
    """Whether connections are older than the load, so that what they count is not its alone."""
    return bool(record["trial"]["browser"]["visit"] == "warm")


def _load_begin_ns(record: JsonMapping) -> float:
    # A browser that failed early has no navigation.
    start_ns = record["browser"].get("navigation_start_ns") if outlives_visits(record) else None
    return start_ns or 0


def _load_end_ns(record: JsonMapping) -> float | None:
    """When the first step after the load began; None if there was none."""
    steps = record.get("after_load")
    if not steps:
        return None
    return float(record["browser"]["navigation_start_ns"] + steps[0]["started_ms"] * 1e6)
