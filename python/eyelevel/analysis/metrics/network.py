"""Metrics of network traffic: objects, their bytes, connections, handshakes.

Connections: how many the browser used for the page's objects. Objects: the responses that came over
the network, and their share in cleartext. Received bytes: heads and encoded bodies of the page's
objects from the network.

Handshakes: how many TLS or QUIC handshakes the lab's servers completed.

There are more than connections if the browser opened some that it did not use.
"""

from __future__ import annotations

from eyelevel.base.json_types import JsonMapping

HTTP3 = "h3"
"""HTTP/3's name in ALPN, by which browsers report it."""
NOT_MODIFIED = 304


def connection_count(record: JsonMapping) -> float | None:
    """Return a count; None if the browser does not number its connections."""
    numbers = {item["connection"] for item in find_fetched_objects(record)} - {None}
    return float(len(numbers)) if numbers else None


def handshake_count(record: JsonMapping) -> float:
    """Return a count, 0 for cleartext."""
    later = _find_opened_by_steps(record)
    done = [
        connection
        for connection in record["connections"]
        if connection["in_force"]["tls_version"] and connection["connection"] not in later
    ]
    return float(len(done))


def _find_opened_by_steps(record: JsonMapping) -> set[int]:
    """Return the connections that steps after the load opened: they carried no request before."""
    steps = record.get("after_load")
    if not steps:
        return set()
    cut_ns = record["browser"]["navigation_start_ns"] + steps[0]["started_ms"] * 1e6
    before = {request["connection"] for request in record["requests"] if request["at_ns"] < cut_ns}
    return {request["connection"] for request in record["requests"]} - before


def object_count(record: JsonMapping) -> float:
    """Return a count of responses over the network, each redirect included.

    Responses from a cache or a service worker do not count.
    """
    return float(len(find_fetched_objects(record)))


def http3_object_count(record: JsonMapping) -> float:
    """Return a count of responses over HTTP/3."""
    return float(sum(item["protocol"] == HTTP3 for item in find_fetched_objects(record)))


def http3_received_bytes(record: JsonMapping) -> float:
    """Return those of the received bytes that came over HTTP/3."""
    fetched = find_fetched_objects(record)
    return float(sum(item["encoded_bytes"] or 0 for item in fetched if item["protocol"] == HTTP3))


def cached_object_count(record: JsonMapping) -> float:
    """Return a count of objects from the HTTP cache; revalidated ones do not count."""
    return float(sum(item["from"] == "cache" for item in record["objects"]))


def revalidated_object_count(record: JsonMapping) -> float:
    """Return a count of requests that our servers answered with 304, of the load and its steps."""
    return float(sum(request["status"] == NOT_MODIFIED for request in record["requests"]))


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


def received_bytes(record: JsonMapping) -> float:
    """Return bytes as the browser counts them: above TLS and transport, before decoding."""
    return float(sum(item["encoded_bytes"] or 0 for item in find_fetched_objects(record)))
