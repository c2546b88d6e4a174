"""Page Load Time: navigation start to the end of the main document's load event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def page_load_time(record: Mapping[str, Any]) -> float | None:
    """Milliseconds from navigation start, from the browser; None if it did not happen."""
    value: float | None = record["navigation"]["page_load_time_ms"]
    return value
