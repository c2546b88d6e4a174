"""The client's half of a WebSocket (RFC 6455) over a socket that somebody else connected."""

from __future__ import annotations

import socket
import time

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import connect

from eyelevel.errors import BrowserGoneError

MESSAGE_BYTES_MAX = 256 << 20
"""Longest message accepted; a screenshot is far shorter."""


class WebSocket:
    """An open connection; `send` and `receive` texts."""

    def __init__(self, connected: socket.socket, host: str, path: str, deadline: float) -> None:
        """Shake hands over a connected socket. Raises `BrowserGoneError` if that fails."""
        try:
            self._connection = connect(
                f"ws://{host}{path}",
                sock=connected,
                open_timeout=max(deadline - time.monotonic(), 0.0),
                compression=None,
                # Firefox is watched by its process; a ping would only wake it.
                ping_interval=None,
                close_timeout=1.0,
                max_size=MESSAGE_BYTES_MAX,
            )
        except (OSError, WebSocketException) as error:
            raise BrowserGoneError(f"the browser refused the WebSocket: {error}") from error

    def send(self, text: str) -> None:
        """One message. Raises `BrowserGoneError` if the connection is gone."""
        try:
            self._connection.send(text)
        except ConnectionClosed as error:
            raise BrowserGoneError(f"the browser closed its WebSocket: {error}") from error

    def receive(self, deadline: float) -> str | None:
        """The next message; None if none came until `deadline`, of `time.monotonic()`."""
        try:
            message = self._connection.recv(timeout=max(deadline - time.monotonic(), 0.0))
        except TimeoutError:
            return None
        except ConnectionClosed as error:
            raise BrowserGoneError(f"the browser closed its WebSocket: {error}") from error
        return message if isinstance(message, str) else message.decode()

    def close(self) -> None:
        """Close the connection; safe to call twice."""
        self._connection.close()
