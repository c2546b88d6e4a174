"""One running lab: configured by one line of JSON, heard in events (spec/lab-events.md)."""

import contextlib
import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import TracebackType
from typing import Any, Self

from eyelevel.lab.binary import find_binary
from eyelevel.lab.errors import LabError

READY_TIMEOUT_S = 30.0
"""A lab is up in 150 ms on a quiet machine; a busy one may take many times that."""

STOP_TIMEOUT_S = 10.0
"""For the summary after the stop command; then the lab is killed."""

ERROR_BYTES_MAX = 4000
"""Of the lab's standard error, for messages."""


@dataclass(frozen=True)
class LabConfig:
    """What a lab is told; `stack` and `path` as spec/lab-events.md has them."""

    path: Mapping[str, Any]
    seed: int
    site: str | None = None
    stack: Mapping[str, Any] | None = None
    realtime: bool = True
    log: str | None = None
    certificates: str | None = None
    watch_interval_ms: int | None = None
    internet: bool = False
    cross_traffic: Sequence[Mapping[str, Any]] = ()
    connection_logs: Mapping[str, Any] | None = None

    def line(self) -> bytes:
        """The configuration as one line of JSON; what is as usual is left out."""
        value = {name: getattr(self, name) for name in ("site", "stack", "path", "seed")}
        for field_ in fields(self):
            if (given := getattr(self, field_.name)) != field_.default:
                value[field_.name] = given
        return json.dumps(value).encode() + b"\n"


@dataclass(frozen=True)
class Ready:
    """The lab's `ready` event."""

    init_pid: int
    server_tid: int
    client_address: str
    server_address: str
    client_address6: str | None
    server_address6: str | None
    device: str | None
    spki_sha256: str | None
    ca_certificate: str | None
    main_url: str | None
    origins: tuple[Mapping[str, Any], ...]
    realtime_priority: bool
    startup_ms: float
    site_digest: str | None

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Self:
        """From the event; unknown keys are left aside."""
        names = cls.__dataclass_fields__
        values = {name: event.get(name) for name in names}
        values["origins"] = tuple(event.get("origins") or ())
        return cls(**values)  # type: ignore[arg-type]

    def quic_origins(self) -> tuple[str, ...]:
        """`host:port` of every secure origin, as Chromium's flag wants them."""
        return tuple(f"{o['host']}:{o['port']}" for o in self.origins if o["scheme"] == "https")


@dataclass(frozen=True)
class LabSummary:
    """Everything that a lab reported between `ready` and its end."""

    requests: tuple[Mapping[str, Any], ...] = ()
    connections: tuple[Mapping[str, Any], ...] = ()
    path: Mapping[str, Any] | None = None
    cross_traffic: Mapping[str, Any] | None = None
    errors: tuple[str, ...] = field(default=())
    server_cpu_s: float | None = None
    """Processor time of the servers' thread; of the measured visit alone."""


class Lab:
    """A lab from `with` to its end. Leaving the block stops it, whatever happened inside.

    Raises LabError on entry where it cannot be built.
    """

    def __init__(
        self, config: LabConfig, on_path: Callable[[Mapping[str, Any]], None] | None = None
    ) -> None:
        """`on_path` gets each `path` event, in a thread of its own (see `watch_interval_ms`)."""
        self._config = config
        self._on_path = on_path
        self._events: list[Mapping[str, Any]] = []
        self._heard: queue.Queue[Mapping[str, Any] | None] = queue.Queue()
        self._summary: LabSummary | None = None
        self._first_connection = 0
        self.ready: Ready

    def __enter__(self) -> Self:
        command = [find_binary(), "up"]
        # A session of its own: Ctrl-C is this process's to handle, which then ends the lab.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._errors = bytearray()
        self._readers = [
            threading.Thread(target=self._read_events, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        try:
            self._write(self._config.line())
            self.ready = Ready.of(self._await("ready", READY_TIMEOUT_S))
        except BaseException:
            self._kill()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._summary is None:
            if kind is None:
                self.stop()
            else:
                self._kill()

    @property
    def command_prefix(self) -> tuple[str, ...]:
        """Put before a command, it runs on the client side of this lab."""
        return (find_binary(), "enter", "--pid", str(self.ready.init_pid), "--")

    @property
    def server_command_prefix(self) -> tuple[str, ...]:
        """Put before a command, it runs in the servers' network namespace."""
        prefix = (find_binary(), "enter", "--pid", str(self.ready.init_pid))
        return (*prefix, "--server-tid", str(self.ready.server_tid), "--")

    def revisit(self, *, connections_stay: bool = False) -> None:
        """Begin a next page load: `stop` gives the requests and connections from now on.

        `connections_stay`: those that are still open are the next load's, too.
        """
        self._write(b'{"command": "revisit"}\n')
        event = self._await("revisit", STOP_TIMEOUT_S)
        if not connections_stay:
            self._first_connection = event["connection"]
        self._events.clear()

    def stop(self) -> LabSummary:
        """End the lab in order and return what it reported; LabError where it had failed."""
        if self._summary is not None:
            return self._summary
        try:
            self._write(b'{"command": "stop"}\n')
            summary = self._await("summary", STOP_TIMEOUT_S)
        finally:
            self._kill()
        of_kind = lambda kind: tuple(e for e in self._events if e["event"] == kind)  # noqa: E731
        self._summary = LabSummary(
            of_kind("request"),
            tuple(c for c in of_kind("connection") if c["connection"] >= self._first_connection),
            summary["path"],
            summary.get("cross_traffic"),
            tuple(e["message"] for e in of_kind("error")),
            summary.get("server_cpu_s"),
        )
        return self._summary

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        # A broken pipe: it ended by itself, and its last event says why.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _await(self, kind: str, timeout_s: float) -> Mapping[str, Any]:
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                event = self._heard.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise LabError(f"the lab gave no `{kind}` within {timeout_s:g} s") from None
            if event is None:
                raise LabError(f"the lab ended: {self._last_words()}")
            self._events.append(event)
            if event["event"] == kind:
                return event
            if event["event"] == "error" and kind == "ready":
                raise LabError(event["message"])

    def _last_words(self) -> str:
        errors = [e["message"] for e in self._events if e["event"] == "error"]
        text = errors[-1] if errors else bytes(self._errors).decode(errors="replace").strip()
        return text or f"exit status {self._process.poll()}, no message"

    def _read_events(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                event = json.loads(line)
            except ValueError:
                event = {"event": "error", "message": f"the lab wrote {line[:200]!r}"}
            if event["event"] == "path":
                if self._on_path is not None:
                    self._on_path(event)
                continue
            self._heard.put(event)
        self._heard.put(None)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if len(self._errors) < ERROR_BYTES_MAX:
                self._errors += line

    def _kill(self) -> None:
        """Ends the supervisor; the kernel then ends everything inside the lab."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for reader in self._readers:
            reader.join(timeout=1.0)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
