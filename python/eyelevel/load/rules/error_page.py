"""Find error pages of live servers: they load normally, but are not the page."""

from collections.abc import Iterable

from eyelevel.base.json_types import JsonMapping

HTTP_ERROR = 400


def error_page(objects: Iterable[JsonMapping]) -> str:
    """Return the first error among the main frame's documents, as a sentence; empty if none.

    If the browser does not report frames (Firefox), the page is the target of the first document's
    redirects.
    """
    for item in objects:
        if item["resource_type"] != "Document" or item["in_main_frame"] is False:
            continue
        status = item["status"] or 0
        if status >= HTTP_ERROR:
            return f"the page answered {status}: {item['url']}"
        if item["in_main_frame"] is None and not 300 <= status < HTTP_ERROR:
            break
    return ""
