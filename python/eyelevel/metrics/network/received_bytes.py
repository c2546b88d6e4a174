"""Received bytes: what came over the network for the page's objects, heads and coded bodies."""

from __future__ import annotations

from eyelevel.json_types import JsonMapping
from eyelevel.metrics.network.objects import find_fetched_objects


def received_bytes(record: JsonMapping) -> float:
    """Return bytes as the browser counts them: above TLS and transport, before decoding."""
    return float(sum(item["encoded_bytes"] or 0 for item in find_fetched_objects(record)))
