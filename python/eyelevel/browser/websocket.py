"""The client's half of a WebSocket (RFC 6455), as much as WebDriver BiDi needs of it.

Text messages both ways, fragments put together, pings answered. One thread, every wait with a
deadline in seconds of `time.monotonic()`.
"""

from __future__ import annotations

import base64
import os
import select
import socket
import time

from eyelevel.browser.errors import BrowserGoneError

READ_BYTES = 1 << 20
MESSAGE_BYTES_MAX = 256 << 20
"""Longest message accepted; a screenshot is far shorter."""

HEAD_BYTES_MAX = 16 << 10
"""Of the answer to the opening handshake."""

TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA
FIN, MASKED = 0x80, 0x80


class WebSocket:
    """An open connection; `send` and `receive` texts."""

    def __init__(self, connected: socket.socket, host: str, path: str, deadline: float) -> None:
        """Shake hands over a connected socket. Raises `BrowserGoneError` where that fails."""
        self._socket = connected
        self._buffer = bytearray()
        self._message = bytearray()
        connected.setblocking(False)
        key = base64.b64encode(os.urandom(16)).decode()
        self._write(
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        while b"\r\n\r\n" not in self._buffer:
            if len(self._buffer) > HEAD_BYTES_MAX or not self._read(deadline):
                raise BrowserGoneError("the browser did not answer the WebSocket's handshake")
        head, _, rest = bytes(self._buffer).partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n", 1)[0]:
            line = head.split(b"\r\n", 1)[0].decode(errors="replace")
            raise BrowserGoneError(f"the browser refused the WebSocket: {line}")
        self._buffer = bytearray(rest)

    def send(self, text: str) -> None:
        """One message, in one masked frame (RFC 6455, 5.3)."""
        self._send(TEXT, text.encode())

    def receive(self, deadline: float) -> str | None:
        """The next message; None where none came until `deadline`."""
        while True:
            frame = self._frame()
            if frame is None:
                if not self._read(deadline):
                    return None
                continue
            final, kind, payload = frame
            if kind == CLOSE:
                raise BrowserGoneError("the browser closed its WebSocket")
            if kind == PING:
                self._send(PONG, payload)
            elif kind != PONG:
                self._message += payload
                if len(self._message) > MESSAGE_BYTES_MAX:
                    raise BrowserGoneError(
                        f"the browser sent a message longer than {MESSAGE_BYTES_MAX} bytes"
                    )
                if final:
                    text, self._message = self._message.decode(), bytearray()
                    return text

    def close(self) -> None:
        """Close the connection; safe to call twice."""
        self._socket.close()

    def _frame(self) -> tuple[bool, int, bytes] | None:
        """The next whole frame of the buffer: whether it is a message's last, its kind, its load.

        A server's frames are not masked (RFC 6455, 5.1).
        """
        data = self._buffer
        if len(data) < 2:
            return None
        length, at = data[1] & 0x7F, 2
        if length >= 126:
            at = 4 if length == 126 else 10
            if len(data) < at:
                return None
            length = int.from_bytes(data[2:at], "big")
        if len(data) < at + length:
            return None
        found = bool(data[0] & FIN), data[0] & 0x0F, bytes(data[at : at + length])
        del data[: at + length]
        return found

    def _send(self, kind: int, payload: bytes) -> None:
        length = len(payload)
        if length < 126:
            head = bytes([FIN | kind, MASKED | length])
        elif length < 1 << 16:
            head = bytes([FIN | kind, MASKED | 126]) + length.to_bytes(2, "big")
        else:
            head = bytes([FIN | kind, MASKED | 127]) + length.to_bytes(8, "big")
        # Firefox refuses a mask of zeros.
        mask = os.urandom(4)
        repeated = mask * (length // 4 + 1)
        masked = int.from_bytes(payload, "big") ^ int.from_bytes(repeated[:length], "big")
        self._write(head + mask + masked.to_bytes(length, "big"))

    def _read(self, deadline: float) -> bool:
        wait_s = max(deadline - time.monotonic(), 0.0)
        if not select.select([self._socket], [], [], wait_s)[0]:
            return False
        try:
            data = self._socket.recv(READ_BYTES)
        except OSError as error:
            raise BrowserGoneError(f"the browser's WebSocket broke: {error.strerror}") from error
        if not data:
            raise BrowserGoneError("the browser closed its WebSocket")
        self._buffer += data
        return True

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            select.select([], [self._socket], [], 10.0)
            try:
                view = view[self._socket.send(view) :]
            except OSError as error:
                raise BrowserGoneError(f"the browser's WebSocket broke: {error}") from error
