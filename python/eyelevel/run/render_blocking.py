"""Which requests hold a page's rendering."""

from collections.abc import Mapping
from typing import Any

# As Chromium's network log has them.
IN_BODY = "InBodyParserBlocking"
"""Of synchronous scripts in the body."""
_BLOCKING = ("Blocking", IN_BODY)


def blocks_rendering(item: Mapping[str, Any]) -> bool:
    """Whether the page, or what of it stands below, is not painted before this object has come.

    The document, and the style sheets and synchronous scripts of its head and of its body. A
    frame's own do not hold the page around it.
    """
    if item.get("in_main_frame") is False:
        return False
    return item["render_blocking"] in _BLOCKING or item["resource_type"] == "Document"
