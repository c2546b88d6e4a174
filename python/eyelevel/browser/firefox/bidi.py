"""A WebDriver BiDi client (W3C) over a connected WebSocket (RFC 6455).

It sends commands, returns their results, and passes on events in order.

Types of the WebDriver BiDi events and results that we use; field names are BiDi's.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from typing import NotRequired

from typing_extensions import TypedDict
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import connect

from eyelevel.base.errors import BrowserGoneError, CommandError, DeadlineError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.messages import (
    MESSAGE_BYTES_MAX,
    Bytes,
    Messages,
    Milliseconds,
    Number,
    Status,
    parse_message,
    refusal_of,
    text_of,
)


class _Timings(TypedDict):
    requestTime: Milliseconds
    dnsStart: NotRequired[Milliseconds]
    dnsEnd: NotRequired[Milliseconds]
    connectStart: NotRequired[Milliseconds]
    connectEnd: NotRequired[Milliseconds]
    tlsStart: NotRequired[Milliseconds]
    tlsEnd: NotRequired[Milliseconds]
    requestStart: NotRequired[Milliseconds]
    responseStart: NotRequired[Milliseconds]
    responseEnd: NotRequired[Milliseconds]


class _FieldValue(TypedDict):
    type: str
    value: str


class _Field(TypedDict):
    name: str
    value: _FieldValue


class _Content(TypedDict):
    size: NotRequired[Bytes | None]


class _Request(TypedDict):
    request: str
    url: str
    method: str
    headers: NotRequired[list[_Field]]
    destination: NotRequired[str | None]
    timings: _Timings


class _OfRequest(TypedDict):
    request: _Request
    redirectCount: Number
    navigation: NotRequired[str | None]
    context: NotRequired[str | None]


class _Failed(_OfRequest):
    errorText: str


class _Response(TypedDict):
    status: Status
    protocol: NotRequired[str | None]
    mimeType: NotRequired[str | None]
    statusText: NotRequired[str | None]
    headers: NotRequired[list[_Field]]
    headersSize: NotRequired[Bytes | None]
    bytesReceived: NotRequired[Bytes | None]
    content: NotRequired[_Content]
    fromCache: NotRequired[bool]


class _Answered(_OfRequest):
    response: _Response


class _LogEntry(TypedDict):
    level: str
    text: NotRequired[str | None]


class _At(TypedDict):
    context: str
    timestamp: Milliseconds


class _Committed(TypedDict):
    context: str
    navigation: NotRequired[str | None]
    url: str


class _Of(TypedDict):
    context: str


class _Created(TypedDict):
    context: str
    parent: NotRequired[str | None]


EVENTS = {
    "browsingContext.contextCreated": _Created,
    "browsingContext.domContentLoaded": _At,
    "browsingContext.load": _At,
    "browsingContext.navigationCommitted": _Committed,
    "browsingContext.userPromptOpened": _Of,
    "log.entryAdded": _LogEntry,
    "network.beforeRequestSent": _OfRequest,
    "network.fetchError": _Failed,
    "network.responseCompleted": _Answered,
    "network.responseStarted": _Answered,
}


class _Capabilities(TypedDict):
    browserVersion: str


class _Session(TypedDict):
    capabilities: _Capabilities


class _Tree(TypedDict):
    contexts: list[_Of]


class _Value(TypedDict):
    value: NotRequired[object]


class _ExceptionDetails(TypedDict):
    text: str


class _Evaluated(TypedDict):
    type: str
    result: NotRequired[_Value]
    exceptionDetails: NotRequired[_ExceptionDetails]


class _Node(TypedDict):
    sharedId: str


class _Nodes(TypedDict):
    nodes: list[_Node]


ANSWERS = {
    "browsingContext.create": _Of,
    "browsingContext.getTree": _Tree,
    "browsingContext.locateNodes": _Nodes,
    "script.callFunction": _Evaluated,
    "script.evaluate": _Evaluated,
    "session.new": _Session,
}

FIREFOX = Messages(EVENTS, ANSWERS)


Message = JsonObject


class BiDi:
    """A BiDi connection with the methods of `DevTools`: `send`, `call`, `pump`."""

    def __init__(self, web_socket: WebSocket, messages: Messages = FIREFOX) -> None:
        """Wrap a WebSocket.

        `messages` has the types that the browser's messages are checked against.
        """
        self._messages = messages
        self._web_socket = web_socket
        self._next_id = 1
        self._reply_handlers: dict[int, tuple[str, Callable[[Message], None]]] = {}
        self.on_event: Callable[[str, Message], None] = lambda method, parameters: None

    def send(
        self, method: str, parameters: Message, on_reply: Callable[[Message], None] | None = None
    ) -> None:
        """Send a command without waiting; `on_reply` is called with the reply message."""
        command_id, self._next_id = self._next_id, self._next_id + 1
        if on_reply is not None:
            self._reply_handlers[command_id] = method, on_reply
        self._web_socket.send(
            json.dumps({"id": command_id, "method": method, "params": parameters})
        )

    def call(self, method: str, parameters: Message, deadline: float) -> Message:
        """Send a command and wait for its result; events are dispatched meanwhile.

        Raises `CommandError`, `DeadlineError` or `BrowserGoneError`.
        """
        replies: list[Message] = []
        self.send(method, parameters, replies.append)
        while not replies:
            # A page can send messages faster than we read them.
            if not self.pump(deadline) or (not replies and time.monotonic() > deadline):
                raise DeadlineError(
                    f"{method} got no answer in time; the machine may be overloaded"
                )
        if replies[0].get("type") == "error":
            raise CommandError(f"{method} was refused: {refusal_of(replies[0])}")
        result: Message = replies[0]["result"]
        return result

    def pump(self, deadline: float) -> bool:
        """Dispatch one message, waiting for it until `deadline`; returns False if none arrived."""
        text = self._web_socket.receive(deadline)
        if text is None:
            return False
        self._dispatch(parse_message(text))
        return True

    def _dispatch(self, message: Message) -> None:
        if message.get("type") == "event":
            method = text_of(message, "method")
            parameters = self._messages.event(method, message.get("params", {}))
            if parameters is not None:
                self.on_event(method, parameters)
            return
        command_id = message.get("id")
        if isinstance(command_id, int) and command_id in self._reply_handlers:
            method, handler = self._reply_handlers.pop(command_id)
            if message.get("type") != "error":
                result = self._messages.answer(method, message.get("result", {}))
                message = {"type": "success", "result": result}
            handler(message)


class WebSocket:
    """An open WebSocket that sends and receives text messages."""

    def __init__(self, connected: socket.socket, host: str, path: str, deadline: float) -> None:
        """Perform the WebSocket handshake over a connected socket. Raises `BrowserGoneError`."""
        try:
            self._connection = connect(
                f"ws://{host}{path}",
                sock=connected,
                open_timeout=max(deadline - time.monotonic(), 0.0),
                compression=None,
                # The process is monitored anyway; pings would only wake it.
                ping_interval=None,
                close_timeout=1.0,
                max_size=MESSAGE_BYTES_MAX,
            )
        except (OSError, WebSocketException) as error:
            raise BrowserGoneError(f"the browser refused the WebSocket: {error}") from error

    def send(self, text: str) -> None:
        """Send one message. Raises `BrowserGoneError` if the connection is gone."""
        try:
            self._connection.send(text)
        except ConnectionClosed as error:
            raise BrowserGoneError(f"the browser closed its WebSocket: {error}") from error

    def receive(self, deadline: float) -> str | None:
        """Return the next message, or None if none arrived until `deadline` (monotonic)."""
        try:
            message = self._connection.recv(timeout=max(deadline - time.monotonic(), 0.0))
        except TimeoutError:
            return None
        except ConnectionClosed as error:
            raise BrowserGoneError(f"the browser closed its WebSocket: {error}") from error
        return message if isinstance(message, str) else message.decode(errors="replace")

    def close(self) -> None:
        """Close the connection; safe to call twice."""
        self._connection.close()
