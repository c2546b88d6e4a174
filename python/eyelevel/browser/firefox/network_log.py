"""Objects of a load from WebDriver BiDi's network events (pure).

Firefox gives times in milliseconds of wall time, which it takes from the monotonic clock and the
wall time of its start. They stay so in here and become milliseconds from navigation start in
`objects`. It does not say which connection an object came over, nor its priority.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eyelevel.browser.observations import LOCAL_SCHEMES, ObjectLoad

PROTOCOLS = {"HTTP/1.1": "http/1.1", "http/1.1": "http/1.1", "HTTP/2": "h2", "HTTP/3": "h3"}
"""Firefox's names where they are not those of Chromium and of the records."""

TYPES = {
    "document": "Document",
    "style": "Stylesheet",
    "script": "Script",
    "image": "Image",
    "font": "Font",
    "iframe": "Document",
}
"""DevTools' resource types by Fetch's destinations."""


@dataclass(slots=True)
class _Request:
    number: int
    request: dict[str, Any]
    response: dict[str, Any] | None = None
    failed: str | None = None
    done: bool = False


class BiDiNetworkLog:
    """Feed it every event; ask it what is under way and, at the end, for the objects."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, int], _Request] = {}

    @property
    def waits(self) -> bool:
        """Whether a request is under way that the end of the load has to wait for."""
        return any(not each.done for each in self._requests.values())

    def handle_event(self, method: str, parameters: dict[str, Any]) -> bool:
        """Take one event; True if it began or ended a request."""
        if not method.startswith("network."):
            return False
        request = parameters["request"]
        key = request["request"], parameters["redirectCount"]
        if method == "network.beforeRequestSent":
            self._requests[key] = _Request(len(self._requests), request)
            return not request["url"].startswith(LOCAL_SCHEMES)
        known = self._requests.setdefault(key, _Request(len(self._requests), request))
        known.request = request
        if method == "network.fetchError":
            known.failed, known.done = parameters["errorText"], True
        elif method in ("network.responseStarted", "network.responseCompleted"):
            known.response = parameters["response"]
            known.done = known.done or method == "network.responseCompleted"
        return known.done

    def first_request_ms(self) -> float | None:
        """When the first request began, wall time; None if none did."""
        times = [each.request["timings"]["requestTime"] for each in self._requests.values()]
        return min(times, default=None)

    def objects(self, start_ms: float) -> tuple[ObjectLoad, ...]:
        """Every object in the order in which they were asked for; `start_ms` is wall time."""
        ordered = sorted(
            self._requests.values(),
            key=lambda each: (each.request["timings"]["requestTime"], each.number),
        )
        return tuple(_object(each, start_ms) for each in ordered)


def _object(each: _Request, start_ms: float) -> ObjectLoad:
    request, response = each.request, each.response or {}
    timings = request["timings"]

    def at(name: str) -> float | None:
        found = timings.get(name) or 0.0
        return round(found - start_ms, 3) if found else None

    def span(first: str, last: str) -> tuple[float, float] | None:
        began, ended = at(first), at(last)
        # What an object found open has equal ends.
        return None if began is None or ended is None or began == ended else (began, ended)

    url, protocol = request["url"], response.get("protocol")
    local = url.startswith(LOCAL_SCHEMES)
    kind = TYPES.get(request.get("destination") or "", "Other")
    ended = at("responseEnd")
    return ObjectLoad(
        url=url,
        method=request["method"],
        resource_type=kind,
        protocol=None if local else PROTOCOLS.get(protocol or "", protocol),
        status=response.get("status"),
        started_ms=at("requestTime") or 0.0,
        lookup_ms=span("dnsStart", "dnsEnd"),
        connect_ms=span("connectStart", "connectEnd"),
        tls_ms=span("tlsStart", "tlsEnd"),
        sending_ms=at("requestStart"),
        sent_ms=at("requestStart"),
        response_ms=at("responseStart"),
        finished_ms=ended if each.done else None,
        encoded_bytes=int(response.get("bytesReceived") or 0),
        source="data" if local else "cache" if response.get("fromCache") else "network",
        # Firefox does not say; style sheets hold the first paint back.
        render_blocking="Blocking" if kind == "Stylesheet" else None,
        in_main_frame=None,
        initiator_type=None,
        mime_type=(response.get("mimeType") or "").partition(";")[0] or None,
        priority=None,
        connection=None,
        address=None,
        failed=each.failed,
    )
