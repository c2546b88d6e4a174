"""A load as HTTP Archive 1.2, as DevTools and other tools import it (pure).

Source: the HAR 1.2 specification (Odvarko, Jain, Davies), and DevTools' own fields that begin with
an underscore. A record holds no headers and no bodies (they are in the recording), so their lists
are empty and their sizes -1, "not available". Times come from the browser's monotonic clock; only
the label `startedDateTime` is wall time, to the second.

A QUIC connection opens with one handshake for transport and encryption: `connect` and `ssl` are the
same span, so what a tool computes as TCP's share (`connect` without `ssl`) is rightly 0.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from urllib.parse import parse_qsl, urlsplit

from eyelevel.json_types import JsonMapping, JsonObject

PAGE = "page_1"
NOT_AVAILABLE = -1
"""HAR's own number for what is unknown or did not happen."""


def har_of(record: JsonMapping) -> JsonObject:
    """The record of one load as a HAR document; objects in the order of their requests."""
    versions, navigation = record["versions"], record["navigation"] or {}
    product, _, browser_version = versions["browser"].partition("/")
    started_at = datetime.fromisoformat(record["started_at"])
    trial = record["trial"]
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "eyelevel", "version": versions["eyelevel"]},
            "browser": {"name": product, "version": browser_version},
            "pages": [
                {
                    "startedDateTime": started_at.isoformat(timespec="milliseconds"),
                    "id": PAGE,
                    "title": f"{trial['site']}, {trial['network']}, {trial['stack']}",
                    "pageTimings": {
                        "onContentLoad": _known(navigation.get("dom_content_loaded_ms")),
                        "onLoad": _known(navigation.get("page_load_time_ms")),
                    },
                    "comment": f"trial {trial['hash']}, outcome {record['outcome']}",
                }
            ],
            "entries": [
                _entry(item, started_at) for item in record["objects"] if item["from"] != "data"
            ],
        }
    }


def _entry(item: JsonMapping, started_at: datetime) -> JsonObject:
    version = item["protocol"] or ""
    started = started_at + timedelta(milliseconds=item["started_ms"])
    timings = _timings(item)
    # `ssl` is part of `connect`.
    phases = [length for name, length in timings.items() if name != "ssl" and length > 0]
    entry: JsonObject = {
        "pageref": PAGE,
        "startedDateTime": started.isoformat(timespec="milliseconds"),
        "time": round(sum(phases), 3),
        "request": _request(item, version),
        "response": _response(item, version),
        "cache": {},
        "timings": timings,
        "_resourceType": item["resource_type"].lower(),
        "_priority": item["priority"],
        "_fetchedViaServiceWorker": item["from"] == "service-worker",
    }
    if item["from"] == "cache":
        entry["_fromCache"] = "memory"
    if item["connection"] is not None:
        entry["connection"] = str(item["connection"])
    if item["address"]:
        entry["serverIPAddress"] = item["address"].rpartition(":")[0].strip("[]")
    return entry


def _request(item: JsonMapping, version: str) -> JsonObject:
    query = parse_qsl(urlsplit(item["url"]).query, keep_blank_values=True)
    return {
        "method": item["method"],
        "url": item["url"],
        "httpVersion": version,
        "headers": [],
        "queryString": [{"name": name, "value": value} for name, value in query],
        "cookies": [],
        "headersSize": NOT_AVAILABLE,
        "bodySize": NOT_AVAILABLE,
    }


def _response(item: JsonMapping, version: str) -> JsonObject:
    response: JsonObject = {
        "status": item["status"] or 0,
        "statusText": "",
        "httpVersion": version,
        "headers": [],
        "cookies": [],
        "content": {"size": NOT_AVAILABLE, "mimeType": item["mime_type"] or "x-unknown"},
        "redirectURL": "",
        "headersSize": NOT_AVAILABLE,
        "bodySize": NOT_AVAILABLE,
        "_transferSize": item["encoded_bytes"],
    }
    if item["failed"]:
        response["_error"] = item["failed"]
    return response


def _timings(item: JsonMapping) -> dict[str, float]:
    """The request's phases; they add up to the time from its start to its end.

    What passed between two phases counts as blocked.
    """
    started, sent, ended = item["started_ms"], item["sent_ms"], item["finished_ms"]
    answered = ended if item["response_ms"] is None else item["response_ms"]
    dns, connect, ssl = (_length(item[name]) for name in ("lookup_ms", "connect_ms", "tls_ms"))
    blocked, send, waited_from = float(NOT_AVAILABLE), 0.0, started
    if sent is not None:
        sending = sent if item["sending_ms"] is None else item["sending_ms"]
        blocked = _at_least_0(sending - started - max(dns, 0.0) - max(connect, 0.0))
        send, waited_from = _at_least_0(sent - sending), sent
    return {
        "blocked": blocked,
        "dns": dns,
        "connect": connect,
        "ssl": ssl,
        "send": send,
        "wait": 0.0 if answered is None else _at_least_0(answered - waited_from),
        "receive": 0.0 if answered is None or ended is None else _at_least_0(ended - answered),
    }


def _length(span_ms: tuple[float, float] | None) -> float:
    return NOT_AVAILABLE if span_ms is None else round(span_ms[1] - span_ms[0], 3)


def _at_least_0(length_ms: float) -> float:
    """Chromium's stamps of one moment can differ in their last digits."""
    return round(max(length_ms, 0.0), 3)


def _known(at_ms: float | None) -> float:
    return NOT_AVAILABLE if at_ms is None else at_ms
