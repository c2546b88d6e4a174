"""Which requests hold a page's first paint."""

from collections.abc import Mapping
from typing import Any


def blocks_rendering(item: Mapping[str, Any]) -> bool:
    """Whether nothing is painted before this object of a record has come.

    The document, and the style sheets and synchronous scripts of its head: what Resource Timing's
    `renderBlockingStatus` calls blocking. A frame's own do not hold the page around it, and a
    script in the body holds only what stands below it.
    """
    if item.get("in_main_frame") is False:
        return False
    return item["render_blocking"] == "Blocking" or item["resource_type"] == "Document"
