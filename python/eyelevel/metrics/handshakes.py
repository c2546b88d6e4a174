"""Handshakes: how many TLS or QUIC handshakes the lab's servers completed.

More than connections where the browser opened some that it did not use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def handshake_count(record: Mapping[str, Any]) -> float | None:
    """A count, 0 for cleartext; None for a load outside of a lab."""
    if "connections" not in record:
        return None
    done = [each for each in record["connections"] if each["in_force"].get("tls_version")]
    return float(len(done))
