"""DOMContentLoaded: navigation start until the main document's DOMContentLoaded event ended."""

from __future__ import annotations

from eyelevel.base.json_types import JsonMapping


def dom_content_loaded(record: JsonMapping) -> float | None:
    """Return milliseconds from navigation start, from the browser; None if it did not happen."""
    value: float | None = record["navigation"]["dom_content_loaded_ms"]
    return value
