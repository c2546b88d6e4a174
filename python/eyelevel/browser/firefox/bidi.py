"""A WebDriver BiDi client (W3C): commands, their answers, and events in their order."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from eyelevel.browser.firefox.websocket import WebSocket
from eyelevel.errors import CommandError, DeadlineError

Message = dict[str, Any]


class BiDi:
    """The same verbs as `DevTools`: `send`, `call`, `pump`."""

    def __init__(self, web_socket: WebSocket) -> None:
        self._web_socket = web_socket
        self._next_id = 1
        self._reply_handlers: dict[int, Callable[[Message], None]] = {}
        self.on_event: Callable[[str, Message], None] = lambda method, parameters: None

    def send(
        self, method: str, parameters: Message, on_reply: Callable[[Message], None] | None = None
    ) -> None:
        """Send a command without waiting; `on_reply` gets the whole reply."""
        command_id, self._next_id = self._next_id, self._next_id + 1
        if on_reply is not None:
            self._reply_handlers[command_id] = on_reply
        self._web_socket.send(
            json.dumps({"id": command_id, "method": method, "params": parameters})
        )

    def call(self, method: str, parameters: Message, deadline: float) -> Message:
        """Send a command and wait for its result; events are handled meanwhile.

        Raises `CommandError`, `DeadlineError` or `BrowserGoneError`.
        """
        replies: list[Message] = []
        self.send(method, parameters, replies.append)
        while not replies:
            if not self.pump(deadline):
                raise DeadlineError(
                    f"{method} got no answer in time; the machine may be overloaded"
                )
        if replies[0].get("type") == "error":
            raise CommandError(f"{method} was refused: {replies[0].get('message')}")
        result: Message = replies[0].get("result", {})
        return result

    def pump(self, deadline: float) -> bool:
        """Handle one message; wait for it until `deadline`. False if none came."""
        text = self._web_socket.receive(deadline)
        if text is None:
            return False
        message: Message = json.loads(text)
        if message.get("type") == "event":
            self.on_event(message["method"], message.get("params", {}))
        elif (handler := self._reply_handlers.pop(message.get("id"), None)) is not None:
            handler(message)
        return True
