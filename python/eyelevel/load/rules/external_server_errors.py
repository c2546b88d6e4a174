"""Find objects that an external server did not serve.

It reports no misses, so the browser's objects are the evidence.
"""

from collections.abc import Iterable

from eyelevel.base.json_types import JsonMapping
from eyelevel.load.rules.error_page import HTTP_ERROR

BLOCKED = "MissingAllowOriginHeader"
"""Chromium's text for a font or script of another origin that lacks the CORS header."""


def external_server_error(objects: Iterable[JsonMapping]) -> str:
    """Return the first object that was not served, as a sentence; empty if all were."""
    for item in objects:
        if (item["status"] or 0) >= HTTP_ERROR:
            return f"the external server answered {item['status']} for {item['url']}"
        if BLOCKED in (item["failed"] or ""):
            return f"the external server sent {item['url']} without access-control-allow-origin"
    return ""
