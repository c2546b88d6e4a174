"""Run a process of the data plane: lines of JSON in, events out."""

import contextlib
import json
import logging
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from shlex import join

from eyelevel.base.errors import LabError
from eyelevel.base.json_types import JsonMapping
from eyelevel.base.verbosity import Shortened
from eyelevel.lab.binary import DOCTOR, NAME

logger = logging.getLogger(__name__)

ERROR_BYTES_MAX = 4000
"""Maximum bytes of its standard error kept for messages."""


class Conversation:
    """One process; callers must call `end`."""

    def __init__(
        self,
        subject: str,
        command: Sequence[str],
        on_event: Callable[[JsonMapping], bool] | None = None,
    ) -> None:
        """Start the process; `subject` names it in messages.

        `on_event` is called in another thread; an event for which it returns True is not added to
        `events`.
        """
        self.subject = subject
        self.events: list[JsonMapping] = []
        """Events that `wait_for` has passed so far, in order."""
        self._on_event = on_event
        self._arrived: queue.Queue[JsonMapping | None] = queue.Queue()
        self._errors = bytearray()
        # In a session of its own: only this process handles Ctrl-C, and then ends the other one.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        logger.debug("%s: started as process %d: %s", subject, self._process.pid, join(command))
        self._readers = [
            threading.Thread(target=self._read_events, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def say(self, message: JsonMapping) -> None:
        """Send one line of JSON."""
        assert self._process.stdin is not None
        logger.debug("to %s: %s", self.subject, Shortened(message))
        # After a broken pipe the process has exited, and its last output explains why.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def say_no_more(self) -> None:
        """Close the process's input, which makes it exit."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def wait_for(self, kind: str, timeout_s: float) -> JsonMapping:
        """Return the next event of this kind.

        Raises `LabError` with the last output if none arrives.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                event = self._arrived.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise LabError(
                    f"{self.subject} gave no `{kind}` within {timeout_s:g} s; {DOCTOR}"
                ) from None
            if event is None:
                raise LabError(self._last_words())
            self.events.append(event)
            if event["event"] == kind:
                return event
            if event["event"] == "error" and kind == "ready":
                raise LabError(event["message"])

    def end(self, grace_s: float) -> None:
        """Close its input, which makes it exit; kill it if that takes longer than `grace_s`."""
        self.say_no_more()
        try:
            self._process.wait(timeout=grace_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for reader in self._readers:
            reader.join(timeout=1.0)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _last_words(self) -> str:
        # The end of its output may arrive before its error message.
        self._readers[1].join(timeout=1.0)
        prefix = f"{NAME}: "
        messages = [event["message"] for event in self.events if event["event"] == "error"]
        messages.append(bytes(self._errors).decode(errors="replace").strip())
        text = next(filter(None, messages[-2:]), f"exit status {self._process.poll()}, no message")
        # Its own message is complete; any other output needs the subject's name.
        if text.startswith(prefix):
            return text.removeprefix(prefix)
        return f"{self.subject} ended: {text}; {DOCTOR}"

    def _read_events(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                event = json.loads(line)
            except ValueError:
                event = {"event": "error", "message": f"{self.subject} wrote {line[:200]!r}"}
            logger.debug("from %s: %s", self.subject, Shortened(event))
            if self._on_event is None or not self._on_event(event):
                self._arrived.put(event)
        self._arrived.put(None)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            logger.info("%s: %s", self.subject, line.decode(errors="replace").rstrip())
            if len(self._errors) < ERROR_BYTES_MAX:
                self._errors += line
