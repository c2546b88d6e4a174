"""A DevTools client over the debugging pipe: one thread, every wait with a deadline.

A message is JSON ended by a NUL byte (Chromium, `devtools_pipe_handler.cc`).
Deadlines are seconds of `time.monotonic()`, the clock of Chromium's own monotonic timestamps on
Linux (CLOCK_MONOTONIC).
"""

from __future__ import annotations

import json
import logging
import os
import select
import time
from collections import deque
from collections.abc import Callable

from eyelevel.base.errors import BrowserGoneError, CommandError, DeadlineError
from eyelevel.base.json_types import JsonObject
from eyelevel.base.verbosity import Shortened
from eyelevel.browser.chromium.messages import CHROMIUM
from eyelevel.browser.messages import (
    MESSAGE_BYTES_MAX,
    Messages,
    parse_message,
    refusal_of,
    text_of,
)

logger = logging.getLogger(__name__)

READ_BYTES = 1 << 20
"""Bytes per read; a full-size frame arrives in one or two reads."""

QUEUE_BYTES_MAX = 256 << 20
"""Maximum bytes of messages queued while a command is being written."""

FLOODS = tuple(
    f'{{"method":"{method}"'.encode()
    for method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
)
"""Message prefixes of events that a page can cause without limit."""

FLOOD_MAX = 10_000
"""Maximum number of such messages that are parsed per browser; the rest are only counted."""

WRITE_TIMEOUT_S = 10.0
"""Seconds for which the browser may leave its pipe unread; it has a thread for reading."""

Message = JsonObject
EventHandler = Callable[[str, Message, str], None]
ReplyHandler = Callable[[Message], None]


def navigation_error(reply: Message) -> str:
    """Return the error text of a `Page.navigate` reply, or "" if navigation started."""
    if "error" in reply:
        return refusal_of(reply["error"])
    return str(reply["result"].get("errorText", ""))


class DevTools:
    """Sends commands and passes events to one handler, in order of arrival."""

    def __init__(
        self, to_browser_fd: int, from_browser_fd: int, messages: Messages = CHROMIUM
    ) -> None:
        """Wrap the two pipes.

        `messages` has the types that the browser's messages are checked against.
        """
        self._messages = messages
        self._out = to_browser_fd
        self._in = from_browser_fd
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._next_id = 1
        self._chunks: list[bytes] = []
        self._chunks_bytes = 0
        self._queue: deque[bytes] = deque()
        self._queue_bytes = 0
        self._flood = 0
        self._reply_handlers: dict[int, tuple[str, ReplyHandler]] = {}
        self.on_event: EventHandler = lambda method, parameters, session_id: None

    def send(
        self,
        method: str,
        parameters: Message | None = None,
        session_id: str = "",
        on_reply: ReplyHandler | None = None,
    ) -> int:
        """Send a command without waiting; `on_reply` is called with the reply message."""
        command_id = self._next_id
        self._next_id += 1
        message: Message = {"id": command_id, "method": method, "params": parameters or {}}
        if session_id:
            message["sessionId"] = session_id
        if on_reply is not None:
            self._reply_handlers[command_id] = method, on_reply
        logger.debug("to the browser: %s", Shortened(message))
        self._write(json.dumps(message).encode() + b"\0")
        return command_id

    def call(
        self, method: str, parameters: Message | None, session_id: str, deadline: float
    ) -> Message:
        """Send a command and wait for its result; events are dispatched meanwhile.

        Raises `CommandError`, `DeadlineError` or `BrowserGoneError`.
        """
        replies: list[Message] = []
        self.send(method, parameters, session_id, replies.append)
        while not replies:
            # A page can send messages faster than we read them.
            if not self.pump(deadline) or (not replies and time.monotonic() > deadline):
                raise DeadlineError(
                    f"{method} got no answer in time; the machine may be overloaded"
                )
        if "error" in replies[0]:
            raise CommandError(f"{method} was refused: {refusal_of(replies[0]['error'])}")
        result: Message = replies[0]["result"]
        return result

    def pump(self, deadline: float) -> bool:
        """Dispatch one message, waiting for it until `deadline`; returns False if none arrived."""
        while not self._queue:
            wait_s = deadline - time.monotonic()
            if not select.select([self._in], [], [], max(wait_s, 0.0))[0]:
                return False
            self._read()
        raw = self._queue.popleft()
        self._queue_bytes -= len(raw)
        self._dispatch(raw)
        return True

    @property
    def dropped(self) -> int:
        """Number of console messages left unparsed because there were more than `FLOOD_MAX`."""
        return max(self._flood - FLOOD_MAX, 0)

    def _dispatch(self, raw: bytes) -> None:
        if raw.startswith(FLOODS):
            self._flood += 1
            if self._flood > FLOOD_MAX:
                return
        message = parse_message(raw)
        logger.debug("from the browser: %s", Shortened(message))
        if "id" in message:
            command_id = message["id"]
            known = isinstance(command_id, int) and command_id in self._reply_handlers
            if known:
                method, handler = self._reply_handlers.pop(command_id)
                if "error" not in message:
                    result = self._messages.answer(method, message.get("result", {}))
                    message = {"id": command_id, "result": result}
                handler(message)
            return
        method, session_id = text_of(message, "method"), text_of(message, "sessionId")
        parameters = self._messages.event(method, message.get("params", {}))
        if parameters is not None:
            self.on_event(method, parameters, session_id)

    def _read(self) -> None:
        try:
            data = os.read(self._in, READ_BYTES)
        except BlockingIOError:
            return
        if not data:
            raise BrowserGoneError("the browser closed its debugging pipe")
        *whole, rest = data.split(b"\0")
        for part in whole:
            self._chunks.append(part)
            self._queue.append(b"".join(self._chunks))
            self._queue_bytes += len(self._queue[-1])
            self._chunks.clear()
            self._chunks_bytes = 0
        if rest:
            self._chunks.append(rest)
            self._chunks_bytes += len(rest)
        if self._queue_bytes > QUEUE_BYTES_MAX:
            raise BrowserGoneError("the browser sent more messages than can be kept")
        if self._chunks_bytes > MESSAGE_BYTES_MAX:
            raise BrowserGoneError(
                f"the browser sent a message longer than {MESSAGE_BYTES_MAX} bytes"
            )

    def _write(self, data: bytes) -> None:
        """Write all of `data`, reading meanwhile: two full pipes would deadlock."""
        view = memoryview(data)
        deadline = time.monotonic() + WRITE_TIMEOUT_S
        while view:
            try:
                view = view[os.write(self._out, view) :]
            except BlockingIOError:
                readable, _, _ = select.select([self._in], [self._out], [], 1.0)
                if readable:
                    self._read()
                if time.monotonic() > deadline:
                    raise BrowserGoneError("the browser stopped reading its pipe") from None
            except BrokenPipeError as error:
                raise BrowserGoneError("the browser closed its debugging pipe") from error
