"""Received bytes: what came over the network for the page's objects, heads and coded bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eyelevel.metrics.objects import fetched


def received_bytes(record: Mapping[str, Any]) -> float:
    """Bytes as the browser counts them: above TLS and transport, before decoding."""
    return float(sum(item["encoded_bytes"] or 0 for item in fetched(record)))
