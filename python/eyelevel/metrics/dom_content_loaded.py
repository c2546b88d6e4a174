"""DOMContentLoaded: navigation start until the main document's DOMContentLoaded event ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def dom_content_loaded(record: Mapping[str, Any]) -> float | None:
    """Milliseconds from navigation start, from the browser; None if it did not happen."""
    value: float | None = record["navigation"]["dom_content_loaded_ms"]
    return value
