"""Objects: how many answers the page got over the network, and how much of them in cleartext."""

from __future__ import annotations

from eyelevel.base.json_types import JsonMapping


def object_count(record: JsonMapping) -> float:
    """Return a count; redirects count one by one, answers from a cache or a service worker do
    not."""
    return float(len(find_fetched_objects(record)))


def find_fetched_objects(record: JsonMapping) -> list[JsonMapping]:
    """Return the page's objects that came over the network."""
    return [
        item
        for item in record["objects"]
        if item["from"] == "network" and item["status"] is not None
    ]


def cleartext_share(record: JsonMapping) -> float | None:
    """Return the share of bytes that came over http, 0 to 1, as the browser counts them; None
    without bytes.

    Whatever the stack, they came over HTTP/1.1 without TLS, as they were recorded.
    """
    sizes = [(item["url"], item["encoded_bytes"] or 0) for item in find_fetched_objects(record)]
    whole = sum(size for _, size in sizes)
    return sum(size for url, size in sizes if url.startswith("http:")) / whole if whole else None
