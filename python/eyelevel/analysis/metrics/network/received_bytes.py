"""Received bytes: heads and encoded bodies of the page's objects from the network."""

from __future__ import annotations

from eyelevel.analysis.metrics.network.objects import find_fetched_objects
from eyelevel.base.json_types import JsonMapping


def received_bytes(record: JsonMapping) -> float:
    """Return bytes as the browser counts them: above TLS and transport, before decoding."""
    return float(sum(item["encoded_bytes"] or 0 for item in find_fetched_objects(record)))
