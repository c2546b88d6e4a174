"""Handshakes: how many TLS or QUIC handshakes the lab's servers completed.

More than connections where the browser opened some that it did not use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def handshake_count(record: Mapping[str, Any]) -> float:
    """A count, 0 for cleartext."""
    later = _of_steps(record)
    done = [
        each
        for each in record["connections"]
        if each["in_force"]["tls_version"] and each["connection"] not in later
    ]
    return float(len(done))


def _of_steps(record: Mapping[str, Any]) -> set[int]:
    """Connections that steps after the load opened: they carried no request before."""
    steps = record.get("after_load")
    if not steps:
        return set()
    cut_ns = record["browser"]["navigation_start_ns"] + steps[0]["started_ms"] * 1e6
    before = {each["connection"] for each in record["requests"] if each["at_ns"] < cut_ns}
    return {each["connection"] for each in record["requests"]} - before
