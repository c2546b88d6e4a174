"""Collect the objects of a load from DevTools network events (pure).

Chromium stamps these events with CLOCK_MONOTONIC seconds; `objects` converts them to milliseconds
from navigation start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from eyelevel.base.json_types import JsonObject
from eyelevel.browser.observations import (
    LOCAL_SCHEMES,
    REQUEST_CHARS_MAX,
    REQUESTS_MAX,
    UNDECODABLE,
    Fields,
    Message,
    ObjectLoad,
    Source,
)

ENDLESS_TYPES = frozenset({"WebSocket", "EventSource"})
"""Resource types that stay open by design; the end of a load does not wait for them."""


@dataclass(slots=True)
class _Request:
    url: str
    method: str
    resource_type: str
    render_blocking: str | None
    priority: str | None
    started_s: float
    source: Source
    in_main_frame: bool = True
    initiator_type: str | None = None
    status: int | None = None
    protocol: str | None = None
    mime_type: str | None = None
    lookup_s: tuple[float, float] | None = None
    connect_s: tuple[float, float] | None = None
    tls_s: tuple[float, float] | None = None
    sending_s: float | None = None
    sent_s: float | None = None
    response_s: float | None = None
    finished_s: float | None = None
    received_bytes: int = 0
    connection: int | None = None
    address: str | None = None
    failed: str | None = None
    from_early_hints: bool = False
    has_extra: bool = False
    """Whether DevTools reports the fields as sent on the wire, in separate events."""
    request_fields: Fields = ()
    request_body: str | None = None
    status_text: str = ""
    response_fields: Fields = ()
    head_bytes: int | None = None
    content_bytes: int = 0

    @property
    def message(self) -> Message:
        """Return the request's message: everything but its timing."""
        return Message(
            self.request_fields,
            self.request_body,
            self.status_text,
            self.response_fields,
            self.head_bytes,
            None if self.response_s is None else self.content_bytes,
        )


@dataclass(slots=True)
class _Hops:
    """The redirect hops of one request and their fields on the wire, both in order."""

    hops: list[_Request] = field(default_factory=list)
    sent: list[Fields] = field(default_factory=list)
    received: list[Fields] = field(default_factory=list)

    def join(self) -> None:
        """Assign the fields to the hops; a failed last hop has sent fields but received none."""
        due = [hop for hop in self.hops if hop.has_extra or hop is self.hops[-1]]
        for hop, fields in zip(due, self.sent, strict=False):
            hop.request_fields = fields
        for hop, fields in zip(due, self.received, strict=False):
            hop.response_fields = fields


class NetworkLog:
    """Collects network events; has the open requests and, at the end, all objects."""

    def __init__(self) -> None:
        self._done: list[_Request] = []
        self._open: dict[str, _Request] = {}
        self.initiators: dict[str, str] = {}
        """First initiator of each URL, both URLs without fragments."""
        self.lost = 0
        """Number of requests dropped because `REQUESTS_MAX` or `REQUEST_CHARS_MAX` was reached."""
        self.has_early_hints = False
        """Whether the browser took in a 103 (Early Hints)."""
        self._chars = 0
        self._by_id: dict[str, _Hops] = {}
        self._main_frame: str | None = None
        self.page_error = ""
        """Why the page's document cannot be decoded, or "". Chromium then shows what it has
        decoded and sends no load event.
        """

    @property
    def waits(self) -> bool:
        """Whether a request is open that the end of the load has to wait for."""
        return any(
            request.source == "network" and request.resource_type not in ENDLESS_TYPES
            for request in self._open.values()
        )

    def handle_event(self, method: str, parameters: JsonObject) -> bool:
        """Handle one event; returns whether a request began or ended."""
        handler = _HANDLERS.get(method)
        return handler is not None and handler(self, parameters)

    def _request_will_be_sent(self, event: JsonObject) -> bool:
        request_id = event["requestId"]
        hop = self._open.pop(request_id, None)
        if hop is not None:
            if "redirectResponse" in event:
                _take_response(hop, event["redirectResponse"], event["timestamp"])
                hop.received_bytes = int(event["redirectResponse"]["encodedDataLength"])
                hop.has_extra = event.get("redirectHasExtraInfo", False)
                hop.response_fields = self._keep_fields(
                    event["redirectResponse"].get("headers", {})
                )
            hop.finished_s = event["timestamp"]
            self._done.append(hop)
        request = event["request"]
        url: str = request["url"]
        if not self._has_room(url):
            return True
        if initiator := _initiator(event.get("initiator", {}), hop.url if hop else None):
            self.initiators.setdefault(url, initiator)
        frame, resource_type = event.get("frameId"), event.get("type", "Other")
        if self._main_frame is None and resource_type == "Document":
            self._main_frame = frame  # a load's first request is its page
        self._open[request_id] = _Request(
            url=url,
            method=request["method"],
            resource_type=resource_type,
            request_fields=self._keep_fields(request.get("headers", {})),
            request_body=self._keep_body(request.get("postData")),
            render_blocking=event.get("renderBlockingBehavior"),
            priority=request.get("initialPriority"),
            started_s=event["timestamp"],
            source="data" if url.startswith(LOCAL_SCHEMES) else "network",
            in_main_frame=frame is not None and frame == self._main_frame,
            initiator_type=event.get("initiator", {}).get("type"),
        )
        self._by_id.setdefault(request_id, _Hops()).hops.append(self._open[request_id])
        return True

    def _request_fields(self, event: JsonObject) -> bool:
        self._by_id.setdefault(event["requestId"], _Hops()).sent.append(
            self._keep_fields(event["headers"])
        )
        return False

    def _early_hints(self, _event: JsonObject) -> bool:
        self.has_early_hints = True
        return False

    def _response_fields(self, event: JsonObject) -> bool:
        self._by_id.setdefault(event["requestId"], _Hops()).received.append(
            self._keep_fields(event["headers"])
        )
        return False

    def _keep_fields(self, headers: Mapping[str, str]) -> Fields:
        """Return the fields of a head, or () once the load's limit is reached.

        Pseudo-header fields, which DevTools reports with the others, are left out (RFC 9113,
        section 8.3).
        """
        self._chars += sum(len(name) + len(value) for name, value in headers.items())
        if self._chars > REQUEST_CHARS_MAX:
            return ()
        return tuple(
            (name, value)
            for name, values in headers.items()
            if not name.startswith(":")
            for value in values.split("\n")
        )

    def _keep_body(self, body: str | None) -> str | None:
        self._chars += len(body or "")
        return body if self._chars <= REQUEST_CHARS_MAX else None

    def _served_from_cache(self, event: JsonObject) -> bool:
        request = self._open.get(event["requestId"])
        if request is not None and request.source == "network":
            request.source = "cache"
        return False

    def _response_received(self, event: JsonObject) -> bool:
        request = self._open.get(event["requestId"])
        if request is None:
            return False
        request.resource_type = event.get("type", request.resource_type)
        _take_response(request, event["response"], event["timestamp"])
        request.has_extra = event.get("hasExtraInfo", False)
        request.response_fields = self._keep_fields(event["response"].get("headers", {}))
        # Until loadingFinished gives the total, this is the length of the head.
        request.received_bytes += int(event["response"].get("encodedDataLength", 0))
        return False

    def _data_received(self, event: JsonObject) -> bool:
        request = self._open.get(event["requestId"])
        if request is not None:
            request.received_bytes += int(event.get("encodedDataLength", 0))
            request.content_bytes += int(event.get("dataLength", 0))
        return False

    def _loading_finished(self, event: JsonObject) -> bool:
        request = self._open.pop(event["requestId"], None)
        if request is None:
            return False
        request.finished_s = event["timestamp"]
        request.received_bytes = int(event["encodedDataLength"])
        self._done.append(request)
        return True

    def _loading_failed(self, event: JsonObject) -> bool:
        request = self._open.pop(event["requestId"], None)
        if request is None:
            return False
        request.finished_s = event["timestamp"]
        reason = event.get("blockedReason") or event.get("corsErrorStatus", {}).get("corsError")
        # A request that DevTools itself blocks has no error text.
        text = event["errorText"] or "blocked"
        request.failed = text + (f" ({reason})" if reason else "")
        is_page = request.resource_type == "Document" and request.in_main_frame
        if is_page and text.startswith(UNDECODABLE):
            self.page_error = text
        self._done.append(request)
        return True

    def _has_room(self, url: str) -> bool:
        """Return whether there is room for one more request; if not, count it as lost."""
        self._chars += len(url)
        count = len(self._done) + len(self._open)
        if count < REQUESTS_MAX and self._chars <= REQUEST_CHARS_MAX:
            return True
        self.lost += 1
        return False

    def _web_socket_created(self, event: JsonObject) -> bool:
        if not self._has_room(event["url"]):
            return False
        self._open[event["requestId"]] = _Request(
            url=event["url"],
            method="GET",
            resource_type="WebSocket",
            render_blocking=None,
            priority=None,
            started_s=-1.0,
            source="network",
        )
        return False

    def _web_socket_handshake(self, event: JsonObject) -> bool:
        request = self._open.get(event["requestId"])
        if request is not None:
            request.started_s = event["timestamp"]
        return True

    def _web_socket_response(self, event: JsonObject) -> bool:
        request = self._open.get(event["requestId"])
        if request is not None:
            request.status = event["response"]["status"]
            request.response_s = event["timestamp"]
            request.protocol = "websocket"
        return True

    def objects(self, navigation_start_s: float) -> tuple[ObjectLoad, ...]:
        """Return all objects in order of their requests."""

        def ms(at_s: float | None) -> float | None:
            return None if at_s is None else round((at_s - navigation_start_s) * 1e3, 3)

        def both_ms(times_s: tuple[float, float] | None) -> tuple[float, float] | None:
            if times_s is None:
                return None
            started_ms, ended_ms = ms(times_s[0]), ms(times_s[1])
            assert started_ms is not None and ended_ms is not None
            return started_ms, ended_ms

        for hops in self._by_id.values():
            if hops.hops:
                hops.join()
        requests = [
            *self._done,
            *(request for request in self._open.values() if request.started_s >= 0),
        ]
        return tuple(
            ObjectLoad(
                url=request.url,
                method=request.method,
                resource_type=request.resource_type,
                protocol=request.protocol,
                status=request.status,
                started_ms=ms(request.started_s) or 0.0,
                lookup_ms=both_ms(request.lookup_s),
                connect_ms=both_ms(request.connect_s),
                tls_ms=both_ms(request.tls_s),
                sending_ms=ms(request.sending_s),
                sent_ms=ms(request.sent_s),
                response_ms=ms(request.response_s),
                finished_ms=ms(request.finished_s),
                encoded_bytes=request.received_bytes,
                source=request.source,
                render_blocking=request.render_blocking,
                in_main_frame=request.in_main_frame,
                initiator_type=request.initiator_type,
                mime_type=request.mime_type,
                priority=request.priority,
                connection=request.connection,
                address=request.address,
                failed=request.failed,
                from_early_hints=request.from_early_hints,
                message=request.message,
            )
            for request in sorted(requests, key=lambda request: request.started_s)
        )


def _take_response(request: _Request, response: JsonObject, arrived_s: float) -> None:
    request.status = response["status"]
    request.status_text = response.get("statusText", "")
    if not response.get("fromDiskCache") and response.get("encodedDataLength"):
        request.head_bytes = int(response["encodedDataLength"])
    request.protocol = response.get("protocol")
    request.mime_type = response.get("mimeType") or None
    request.from_early_hints = response.get("fromEarlyHints", False)
    request.connection = int(response["connectionId"]) if response.get("connectionId") else None
    if response.get("remoteIPAddress"):
        request.address = f"{response['remoteIPAddress']}:{response.get('remotePort')}"
    if response.get("fromServiceWorker"):
        request.source = "service-worker"
    elif response.get("fromDiskCache") or response.get("fromPrefetchCache"):
        request.source = "cache"
    timing = response.get("timing")
    request.response_s = arrived_s
    # A cached response has the times of the load that filled the cache.
    if timing and request.source == "network":
        request.lookup_s = _span(timing, "dnsStart", "dnsEnd")
        request.connect_s = _span(timing, "connectStart", "connectEnd")
        request.tls_s = _span(timing, "sslStart", "sslEnd")
        request.sending_s = _since(timing, "sendStart")
        request.sent_s = _since(timing, "sendEnd")
        request.response_s = _since(timing, "receiveHeadersStart") or arrived_s


def _initiator(initiator: JsonObject, redirected_from: str | None) -> str | None:
    """Return the URL of the initiator; for a script, that of the top frame of its stack."""
    url: str | None = redirected_from or initiator.get("url")
    stack = initiator.get("stack")
    while url is None and stack:
        urls = [frame["url"] for frame in stack.get("callFrames", []) if frame.get("url")]
        url = urls[0] if urls else None
        stack = stack.get("parent")
    return url.partition("#")[0] if url and not url.startswith(LOCAL_SCHEMES) else None


def _since(timing: JsonObject, name: str) -> float | None:
    """Return a `ResourceTiming` field as monotonic seconds, or None for its negative "unset"."""
    offset_ms = timing.get(name, -1)
    return None if offset_ms < 0 else timing["requestTime"] + offset_ms / 1e3


def _span(timing: JsonObject, first: str, last: str) -> tuple[float, float] | None:
    """Return start and end of a phase of the request, monotonic seconds; None if it had none."""
    started_s, ended_s = _since(timing, first), _since(timing, last)
    return None if started_s is None or ended_s is None else (started_s, ended_s)


_HANDLERS = {
    "Network.requestWillBeSent": NetworkLog._request_will_be_sent,
    "Network.requestWillBeSentExtraInfo": NetworkLog._request_fields,
    "Network.responseReceivedEarlyHints": NetworkLog._early_hints,
    "Network.responseReceivedExtraInfo": NetworkLog._response_fields,
    "Network.requestServedFromCache": NetworkLog._served_from_cache,
    "Network.responseReceived": NetworkLog._response_received,
    "Network.dataReceived": NetworkLog._data_received,
    "Network.loadingFinished": NetworkLog._loading_finished,
    "Network.loadingFailed": NetworkLog._loading_failed,
    "Network.webSocketCreated": NetworkLog._web_socket_created,
    "Network.webSocketWillSendHandshakeRequest": NetworkLog._web_socket_handshake,
    "Network.webSocketHandshakeResponseReceived": NetworkLog._web_socket_response,
}
