"""Count connections that carried no request, and the bytes that they cost."""

from dataclasses import dataclass

from eyelevel.base.json_types import JsonMapping


@dataclass(frozen=True, slots=True)
class UnusedConnections:
    """Counts of one load's connections, as seen by its servers."""

    connections: int
    """Number of connections opened, unused ones included."""
    unused: int
    """Number of connections that carried no request."""
    in_handshake: int
    """Number of unused connections that never completed their TLS or QUIC handshake."""
    bytes: int
    """TCP or UDP payload of unused connections in both directions, as far as known."""


def count_unused_connections(record: JsonMapping) -> UnusedConnections | None:
    """Return the counts of a load, or None if its servers are external and count nothing.

    A browser opens connections speculatively, and several to a host that may need only one.
    Connections of steps after the load are left out, and on a warm visit those of the earlier
    visit.
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
    return UnusedConnections(
        connections=len(opened),
        unused=len(unused),
        in_handshake=sum("failure" in connection["in_force"] for connection in unused),
        bytes=sum(
            connection["in_force"][way] or 0
            for connection in unused
            for way in ("sent_bytes", "received_bytes")
        ),
    )


def outlives_visits(record: JsonMapping) -> bool:
    """Return whether connections may be older than the load, and so have earlier traffic."""
    return bool(record["trial"]["browser"]["visit"] == "warm")


def _load_begin_ns(record: JsonMapping) -> float:
    # A browser that failed early never navigated.
    start_ns = record["browser"].get("navigation_start_ns") if outlives_visits(record) else None
    return start_ns or 0


def _load_end_ns(record: JsonMapping) -> float | None:
    """Return when the first step after the load began, CLOCK_MONOTONIC ns.

    Returns None if there was none.
    """
    steps = record.get("after_load")
    if not steps:
        return None
    return float(record["browser"]["navigation_start_ns"] + steps[0]["started_ms"] * 1e6)
