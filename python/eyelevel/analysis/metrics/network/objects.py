"""Objects: the responses that came over the network, and their share in cleartext."""

from __future__ import annotations

from eyelevel.base.json_types import JsonMapping


def object_count(record: JsonMapping) -> float:
    """Return a count of responses over the network, each redirect included.

    Responses from a cache or a service worker do not count.
    """
    return float(len(find_fetched_objects(record)))


def find_fetched_objects(record: JsonMapping) -> list[JsonMapping]:
    """Return the page's objects that came over the network."""
    return [
        item
        for item in record["objects"]
        if item["from"] == "network" and item["status"] is not None
    ]


def cleartext_share(record: JsonMapping) -> float | None:
    """Return the share of bytes over http, 0 to 1, by the browser's counts; None without bytes.

    Whatever the stack, these came over HTTP/1.1 without TLS, as they were recorded.
    """
    sizes = [(item["url"], item["encoded_bytes"] or 0) for item in find_fetched_objects(record)]
    whole = sum(size for _, size in sizes)
    return sum(size for url, size in sizes if url.startswith("http:")) / whole if whole else None
