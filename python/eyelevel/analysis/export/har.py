"""A load as HTTP Archive 1.2, as DevTools and other tools import it (pure).

Source: the HAR 1.2 specification (Odvarko, Jain, Davies), and DevTools' own fields that begin with
an underscore. Header fields and sizes come from the messages beside the record, bodies from the
recording that was replayed; unavailable values are empty or -1, "not available". Times come from
the browser's monotonic clock; only the label `startedDateTime` is wall time, to the second.

A QUIC connection opens with one handshake for transport and encryption: `connect` and `ssl` are the
same span, so that the time which tools compute for TCP (`connect` without `ssl`) is correctly 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import parse_qsl, urlsplit

from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.store.packed import Message

PAGE = "page_1"
NOT_AVAILABLE = -1
"""HAR's own value for what is unknown or did not happen."""


FORM = "application/x-www-form-urlencoded"
NO_MESSAGE: Message = {
    "request_fields": [],
    "request_body": None,
    "status_text": "",
    "response_fields": [],
    "response_head_bytes": None,
    "content_bytes": None,
}
"""The message of an object whose fields were not stored."""


def har_of(
    record: JsonMapping,
    messages: Sequence[Message | None] | None = None,
    contents: Sequence[JsonMapping] = (),
) -> JsonObject:
    """Return one load as a HAR document, its objects in the order of their requests.

    `messages`: those of the record's objects, one by one. `contents`: the recorded exchanges' HAR
    `content`, in the order of the recording, for bodies.
    """
    bodies = _bodies(record, contents)
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
                        "onContentLoad": _or_unavailable(navigation.get("dom_content_loaded_ms")),
                        "onLoad": _or_unavailable(navigation.get("page_load_time_ms")),
                    },
                    "comment": f"trial {trial['hash']}, outcome {record['outcome']}",
                }
            ],
            "entries": [
                _entry(item, message or NO_MESSAGE, next(bodies[item["url"]], None), started_at)
                for item, message in zip(
                    record["objects"], messages or [None] * len(record["objects"]), strict=True
                )
                if item["from"] != "data"
            ],
        }
    }


def _bodies(
    record: JsonMapping, contents: Sequence[JsonMapping]
) -> Mapping[str, Iterator[JsonMapping]]:
    """Return the bodies of the servers' responses, by URL, in the order of the requests."""
    served: dict[str, list[JsonMapping]] = defaultdict(list)
    if contents:
        for request in record["requests"]:
            if request["exchange"] is not None:
                served[request["url"]].append(contents[request["exchange"]])
    found: dict[str, Iterator[JsonMapping]] = defaultdict(lambda: iter(()))
    return found | {url: iter(each) for url, each in served.items()}


def _entry(
    item: JsonMapping, message: Message, body: JsonMapping | None, started_at: datetime
) -> JsonObject:
    version = item["protocol"] or ""
    started = started_at + timedelta(milliseconds=item["started_ms"])
    timings = _timings(item)
    # `ssl` is part of `connect`.
    phases = [length for name, length in timings.items() if name != "ssl" and length > 0]
    entry: JsonObject = {
        "pageref": PAGE,
        "startedDateTime": started.isoformat(timespec="milliseconds"),
        "time": round(sum(phases), 3),
        "request": _request(item, message, version),
        "response": _response(item, message, body, version),
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


def _request(item: JsonMapping, message: Message, version: str) -> JsonObject:
    fields, body = message["request_fields"], message["request_body"]
    request: JsonObject = {
        "method": item["method"],
        "url": item["url"],
        "httpVersion": version,
        "headers": _pairs(fields),
        "queryString": _pairs(parse_qsl(urlsplit(item["url"]).query, keep_blank_values=True)),
        "cookies": _pairs(_cookie_pairs(fields)),
        "headersSize": NOT_AVAILABLE,
        "bodySize": 0 if body is None and item["method"] in ("GET", "HEAD") else NOT_AVAILABLE,
    }
    if body is not None:
        media_type = _value(fields, "content-type")
        request["bodySize"] = len(body.encode("utf-8", "surrogatepass"))
        request["postData"] = {"mimeType": media_type, "text": body, "params": []}
        if media_type.partition(";")[0].strip().lower() == FORM:
            params = parse_qsl(body, keep_blank_values=True)
            request["postData"]["params"] = _pairs(params)
    return request


def _response(
    item: JsonMapping, message: Message, body: JsonMapping | None, version: str
) -> JsonObject:
    fields, head_bytes = message["response_fields"], message["response_head_bytes"]
    size = message["content_bytes"]
    content: JsonObject = {
        "size": NOT_AVAILABLE if size is None else size,
        "mimeType": _value(fields, "content-type") or item["mime_type"] or "x-unknown",
    }
    body_bytes = NOT_AVAILABLE
    if head_bytes is not None and item["from"] == "network":
        # Frames around the body's bytes count as received, too; a declared length leaves them out.
        received, declared = item["encoded_bytes"] - head_bytes, _value(fields, "content-length")
        body_bytes = max(received, 0)
        if declared.isascii() and declared.isdigit() and int(declared) <= received:
            body_bytes = int(declared)
        if size is not None and _value(fields, "content-encoding"):
            content["compression"] = size - body_bytes
    if body is not None:
        content |= {name: body[name] for name in ("text", "encoding", "comment") if body.get(name)}
    response: JsonObject = {
        "status": item["status"] or 0,
        "statusText": message["status_text"],
        "httpVersion": version,
        "headers": _pairs(fields),
        "cookies": [_set_cookie(value) for name, value in fields if name.lower() == "set-cookie"],
        "content": content,
        "redirectURL": _value(fields, "location"),
        "headersSize": NOT_AVAILABLE if head_bytes is None else head_bytes,
        "bodySize": body_bytes,
        "_transferSize": item["encoded_bytes"],
    }
    if item["failed"]:
        response["_error"] = item["failed"]
    return response


def _pairs(pairs: Sequence[tuple[str, str]]) -> list[JsonObject]:
    return [{"name": name, "value": value} for name, value in pairs]


def _value(fields: Sequence[tuple[str, str]], wanted: str) -> str:
    """Return the value of the first field of a name; empty without one."""
    return next((value for name, value in fields if name.lower() == wanted), "")


def _cookie_pairs(fields: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the cookies of all `cookie` fields (RFC 6265, section 4.2.1)."""
    values = (value for name, value in fields if name.lower() == "cookie")
    return [_cut(each, "=") for value in values for each in value.split(";") if each.strip()]


def _set_cookie(value: str) -> JsonObject:
    """Return a `set-cookie` field in HAR's form (RFC 6265, section 5.2)."""
    first, *rest = value.split(";")
    name, content = _cut(first, "=")
    cookie: JsonObject = {"name": name, "value": content}
    attributes = {key.lower(): text for key, text in (_cut(each, "=") for each in rest)}
    for key in ("path", "domain"):
        if attributes.get(key):
            cookie[key] = attributes[key]
    if expires := _moment(attributes.get("expires", "")):
        cookie["expires"] = expires
    return cookie | {"httpOnly": "httponly" in attributes, "secure": "secure" in attributes}


def _moment(date: str) -> str | None:
    """Return a cookie's date in ISO 8601; None if it is invalid."""
    try:
        # Some servers write `Wed, 09-Jun-2021` (RFC 6265, section 5.1.1).
        moment = parsedate_to_datetime(date.replace("-", " "))
    except (ValueError, TypeError, OverflowError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def _cut(text: str, mark: str) -> tuple[str, str]:
    name, _, value = text.partition(mark)
    return name.strip(), value.strip()


def _timings(item: JsonMapping) -> dict[str, float]:
    """Return the request's phases; they add up to the time from its start to its end.

    The time between two phases counts as blocked.
    """
    started, sent, ended = item["started_ms"], item["sent_ms"], item["finished_ms"]
    answered = ended if item["response_ms"] is None else item["response_ms"]
    dns, connect, ssl = (_length(item[name]) for name in ("lookup_ms", "connect_ms", "tls_ms"))
    blocked, send, waited_from = float(NOT_AVAILABLE), 0.0, started
    if sent is not None:
        sending = sent if item["sending_ms"] is None else item["sending_ms"]
        blocked = _clamp_to_0(sending - started - max(dns, 0.0) - max(connect, 0.0))
        send, waited_from = _clamp_to_0(sent - sending), sent
    return {
        "blocked": blocked,
        "dns": dns,
        "connect": connect,
        "ssl": ssl,
        "send": send,
        "wait": 0.0 if answered is None else _clamp_to_0(answered - waited_from),
        "receive": 0.0 if answered is None or ended is None else _clamp_to_0(ended - answered),
    }


def _length(span_ms: tuple[float, float] | None) -> float:
    return NOT_AVAILABLE if span_ms is None else round(span_ms[1] - span_ms[0], 3)


def _clamp_to_0(length_ms: float) -> float:
    """Return a length as at least 0: Chromium's timestamps of one moment can differ slightly."""
    return round(max(length_ms, 0.0), 3)


def _or_unavailable(at_ms: float | None) -> float:
    return NOT_AVAILABLE if at_ms is None else at_ms
