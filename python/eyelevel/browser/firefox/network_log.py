"""Collect the objects of a load from WebDriver BiDi's network events (pure).

Firefox reports times in milliseconds of wall time, which it computes from the monotonic clock and
the wall time of its start; `objects` converts them to milliseconds from navigation start. It
reports neither the connection nor the priority of an object.
"""

from __future__ import annotations

from dataclasses import dataclass

from eyelevel.base.json_types import JsonObject
from eyelevel.browser.observations import (
    LOCAL_SCHEMES,
    REQUEST_CHARS_MAX,
    REQUESTS_MAX,
    Fields,
    Message,
    ObjectLoad,
)

PROTOCOLS = {"HTTP/1.1": "http/1.1", "http/1.1": "http/1.1", "HTTP/2": "h2", "HTTP/3": "h3"}
"""Protocol names of records (and Chromium), by Firefox's."""

TYPES = {
    "document": "Document",
    "style": "Stylesheet",
    "script": "Script",
    "image": "Image",
    "font": "Font",
    "iframe": "Document",
}
"""DevTools' resource types, by destinations of the Fetch standard."""


@dataclass(slots=True)
class _Request:
    number: int
    request: JsonObject
    navigation: str | None = None
    response: JsonObject | None = None
    failed: str | None = None
    done: bool = False


class BiDiNetworkLog:
    """Collects network events; has the open requests and, at the end, all objects."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, int], _Request] = {}
        self._open: set[tuple[str, int]] = set()
        self._chars = 0
        self.lost = 0
        """Number of requests dropped because `REQUESTS_MAX` or `REQUEST_CHARS_MAX` was reached."""

    @property
    def waits(self) -> bool:
        """Whether a request is open that the end of the load has to wait for."""
        return bool(self._open)

    def handle_event(self, method: str, parameters: JsonObject) -> bool:
        """Handle one event; returns whether a request began or ended."""
        if not method.startswith("network."):
            return False
        request = parameters["request"]
        key = request["request"], parameters["redirectCount"]
        if key not in self._requests and not self._has_room(request["url"]):
            return True
        if method == "network.beforeRequestSent":
            self._open.add(key)
            navigation = parameters.get("navigation")
            self._requests[key] = _Request(len(self._requests), request, navigation)
            return not request["url"].startswith(LOCAL_SCHEMES)
        entry = self._requests.setdefault(key, _Request(len(self._requests), request))
        entry.request = request
        if method == "network.fetchError":
            entry.failed, entry.done = parameters["errorText"], True
        elif method in ("network.responseStarted", "network.responseCompleted"):
            entry.response = parameters["response"]
            entry.done = entry.done or method == "network.responseCompleted"
        (self._open.discard if entry.done else self._open.add)(key)
        return entry.done

    def _has_room(self, url: str) -> bool:
        """Return whether there is room for one more request; if not, count it as lost."""
        self._chars += len(url)
        if len(self._requests) < REQUESTS_MAX and self._chars <= REQUEST_CHARS_MAX:
            return True
        self.lost += 1
        return False

    def first_request_ms(self) -> float | None:
        """Return the start of the first request, milliseconds of wall time.

        Returns None if there was none.
        """
        times = [entry.request["timings"]["requestTime"] for entry in self._requests.values()]
        return min(times, default=None)

    def response_ms(self, navigation: str) -> float | None:
        """Return when a navigation's response began, milliseconds of wall time, after redirects.

        None if it is unknown, or if the response was not from the network.
        """
        for entry in reversed(self._requests.values()):
            if entry.navigation == navigation and entry.response is not None:
                from_network = not entry.response.get("fromCache")
                return (entry.request["timings"]["responseStart"] or None) if from_network else None
        return None

    def objects(self, start_ms: float) -> tuple[ObjectLoad, ...]:
        """Return all objects in order of their requests.

        `start_ms` is navigation start in wall time.
        """
        ordered = sorted(
            self._requests.values(),
            key=lambda entry: (entry.request["timings"]["requestTime"], entry.number),
        )
        return tuple(_object(entry, start_ms) for entry in ordered)


def _object(entry: _Request, start_ms: float) -> ObjectLoad:
    request, response = entry.request, entry.response or {}
    timings = request["timings"]

    def since_start(name: str) -> float | None:
        wall_ms = timings.get(name) or 0.0
        return round(wall_ms - start_ms, 3) if wall_ms else None

    def span(first: str, last: str) -> tuple[float, float] | None:
        began, ended = since_start(first), since_start(last)
        # Both are equal for a phase that the request did not have.
        return None if began is None or ended is None or began == ended else (began, ended)

    url, protocol = request["url"], response.get("protocol")
    local = url.startswith(LOCAL_SCHEMES)
    kind = TYPES.get(request.get("destination") or "", "Other")
    ended = since_start("responseEnd")
    return ObjectLoad(
        url=url,
        method=request["method"],
        resource_type=kind,
        protocol=None if local else PROTOCOLS.get(protocol or "", protocol),
        status=response.get("status"),
        started_ms=since_start("requestTime") or 0.0,
        lookup_ms=span("dnsStart", "dnsEnd"),
        connect_ms=span("connectStart", "connectEnd"),
        tls_ms=span("tlsStart", "tlsEnd"),
        sending_ms=since_start("requestStart"),
        sent_ms=since_start("requestStart"),
        response_ms=since_start("responseStart"),
        finished_ms=ended if entry.done else None,
        encoded_bytes=int(response.get("bytesReceived") or 0),
        source="data" if local else "cache" if response.get("fromCache") else "network",
        # Firefox does not report it; style sheets block rendering.
        render_blocking="Blocking" if kind == "Stylesheet" else None,
        in_main_frame=None,
        initiator_type=None,
        mime_type=(response.get("mimeType") or "").partition(";")[0] or None,
        priority=None,
        connection=None,
        address=None,
        failed=entry.failed,
        message=_message(request, response),
    )


def _message(request: JsonObject, response: JsonObject) -> Message:
    head_bytes, content = response.get("headersSize"), response.get("content") or {}
    size = content.get("size")
    return Message(
        request_fields=_fields(request),
        status_text=response.get("statusText") or "",
        response_fields=_fields(response),
        response_head_bytes=int(head_bytes) if head_bytes else None,
        content_bytes=None if size is None else int(size),
    )


def _fields(message: JsonObject) -> Fields:
    """Return the header fields; fields whose bytes are not UTF-8 are left out."""
    return tuple(
        (each["name"], each["value"]["value"])
        for each in message.get("headers", ())
        if each["value"]["type"] == "string"
    )
