"""Page Load Time: navigation start to the end of the main document's load event."""

from __future__ import annotations

from eyelevel.base.json_types import JsonMapping


def page_load_time(record: JsonMapping) -> float | None:
    """Return milliseconds from navigation start, from the browser; None if it did not happen."""
    value: float | None = record["navigation"]["page_load_time_ms"]
    return value
