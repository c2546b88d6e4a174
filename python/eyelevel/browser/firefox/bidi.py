"""A WebDriver BiDi client (W3C) over a connected WebSocket (RFC 6455).

It sends commands, returns their results, and passes on events in order.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import connect

from eyelevel.base.errors import BrowserGoneError, CommandError, DeadlineError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.firefox.messages import FIREFOX
from eyelevel.browser.messages import (
    MESSAGE_BYTES_MAX,
    Messages,
    parse_message,
    refusal_of,
    text_of,
)

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
