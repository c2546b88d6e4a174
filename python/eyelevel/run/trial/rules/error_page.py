"""A live page's own answer: an error page is loaded well, and is not the page."""

from collections.abc import Iterable

from eyelevel.json_types import JsonMapping

HTTP_ERROR = 400


def error_page(objects: Iterable[JsonMapping]) -> str:
    """Return the first of the main frame's documents that is an error, in a sentence; empty if none
    is.

    Where the browser does not tell frames (Firefox), the page is what the first document's
    redirects lead to.
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
