"""Objects: how many answers the page got over the network."""

from __future__ import annotations

from eyelevel.json_types import JsonMapping


def object_count(record: JsonMapping) -> float:
    """A count; redirects count one by one, answers from a cache or a service worker do not."""
    return float(len(fetched(record)))


def fetched(record: JsonMapping) -> list[JsonMapping]:
    """The page's objects that came over the network."""
    return [
        item
        for item in record["objects"]
        if item["from"] == "network" and item["status"] is not None
    ]
