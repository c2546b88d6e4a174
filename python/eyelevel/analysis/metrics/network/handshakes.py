"""Handshakes: how many TLS or QUIC handshakes the lab's servers completed.

There are more than connections if the browser opened some that it did not use.
"""

from __future__ import annotations

from eyelevel.base.json_types import JsonMapping


def handshake_count(record: JsonMapping) -> float:
    """Return a count, 0 for cleartext."""
    later = _find_opened_by_steps(record)
    done = [
        connection
        for connection in record["connections"]
        if connection["in_force"]["tls_version"] and connection["connection"] not in later
    ]
    return float(len(done))


def _find_opened_by_steps(record: JsonMapping) -> set[int]:
    """Return the connections that steps after the load opened: they carried no request before."""
    steps = record.get("after_load")
    if not steps:
        return set()
    cut_ns = record["browser"]["navigation_start_ns"] + steps[0]["started_ms"] * 1e6
    before = {request["connection"] for request in record["requests"] if request["at_ns"] < cut_ns}
    return {request["connection"] for request in record["requests"]} - before
