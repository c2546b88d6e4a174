"""Control a running lab: one line of JSON in, events out (spec/lab-events.md).

Run a process of the data plane: lines of JSON in, events out. Control a running live network
(spec/lab-events.md, "A live network").
"""

import contextlib
import ipaddress
import json
import logging
import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from shlex import join
from typing import Self

from eyelevel.base.errors import LabError
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.base.verbosity import Shortened
from eyelevel.lab.binary import DOCTOR, NAME, find_binary

logger = logging.getLogger(__name__)

HTTPS_PORT = 443

READY_TIMEOUT_S = 30.0
"""Time limit for a lab to start; 150 ms on a quiet machine, many times that on a busy one."""

STOP_TIMEOUT_S = 10.0
"""Time limit for the summary after the stop command; then the lab is killed."""

END_GRACE_S = 1.0
"""Time limit for the supervisor to exit; if it is killed, the kernel ends everything inside the
lab.
"""


@dataclass(frozen=True)
class LabConfig:
    """Configuration of a lab; `stack` and `path` are as in spec/lab-events.md."""

    path: JsonMapping
    seed: int
    site: str | None = None
    stack: JsonMapping | None = None
    realtime: bool = True
    realtime_servers: bool = True
    log: str | None = None
    certificates: str | None = None
    watch_interval_ms: int | None = None
    internet: bool = False
    cross_traffic: Sequence[JsonMapping] = ()
    connection_logs: JsonMapping | None = None
    longest_prefix: bool = False
    cache_age_s: int | None = None
    live: JsonMapping | None = None

    def message(self) -> JsonObject:
        """Return the configuration message, without settings that have their default."""
        message = {name: getattr(self, name) for name in ("site", "stack", "path", "seed")}
        for setting in fields(self):
            if (value := getattr(self, setting.name)) != setting.default:
                message[setting.name] = value
        return message


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
    origins: tuple[JsonMapping, ...]
    realtime_priority: bool
    server_realtime_priority: bool
    startup_ms: float
    site_digest: str | None
    queueing_discipline: str | None = None
    """Queueing discipline of the servers' device, by the kernel's name; None for a virtual
    Ethernet pair, which has none.
    """
    reserved_cores: tuple[int, ...] | None = None
    """Hardware threads of the core reserved for the lab's own threads, and for external
    servers; clients may not use them. None: no core is reserved, since the lab has real-time
    priority or there is only one core.
    """
    early_hints: JsonMapping | None = None
    """The objects that the page's Early Hints name, and those that they do not; None without."""

    @classmethod
    def of(cls, event: JsonMapping) -> Self:
        """Parse the event; unknown keys are ignored."""
        names = cls.__dataclass_fields__
        values = {name: event.get(name) for name in names}
        values["origins"] = tuple(event.get("origins") or ())
        if kept := event.get("reserved_cores"):
            values["reserved_cores"] = tuple(kept)
        return cls(**values)  # type: ignore[arg-type]

    @property
    def client_cores(self) -> tuple[int, ...] | None:
        """CPU cores that a browser in this lab may use; None for all of this process's."""
        if self.reserved_cores is None:
            return None
        return tuple(sorted(os.sched_getaffinity(0) - set(self.reserved_cores)))

    def quic_origins(self) -> tuple[str, ...]:
        """`host:port` of every secure origin, for Chromium's flag.

        If there is a TLS server at all, hosts that were recorded over http only are included: https
        requests to them are then misses with every stack, instead of refused connections.
        """
        secure = [origin for origin in self.origins if origin["scheme"] == "https"]
        found = [f"{origin['host']}:{origin['port']}" for origin in secure]
        if any(origin["port"] == HTTPS_PORT for origin in secure):
            found += [f"{origin['host']}:{HTTPS_PORT}" for origin in self.origins]
        return tuple(dict.fromkeys(found))

    def own_hosts(self) -> tuple[tuple[str, str], ...]:
        """Hosts that a browser does not resolve, with their addresses in the lab.

        An address that is replayed at itself is left out. Others (loopback, private ones) and
        `localhost` are the machine's own to a browser, which is not what was recorded.
        """
        addresses = {origin["host"]: origin["address"] for origin in self.origins}
        return tuple(
            (host, address)
            for host, address in addresses.items()
            if needs_no_resolver(host) and host != address
        )


@dataclass(frozen=True)
class LabSummary:
    """All reports of a lab between `ready` and its end."""

    requests: tuple[JsonMapping, ...] = ()
    connections: tuple[JsonMapping, ...] = ()
    path: JsonMapping | None = None
    cross_traffic: JsonMapping | None = None
    errors: tuple[str, ...] = field(default=())
    server_cpu_s: float | None = None
    """CPU time of the servers' thread, for the measured visit only, seconds."""
    suspended: tuple[JsonMapping, ...] | None = None
    """Suspended processes of the measured visit; None if processes were not watched."""
    live: JsonMapping | None = None
    """The lab's account of a live build during the measured visit; None without one."""


class Lab:
    """A lab that lives for the duration of a `with` block, whatever happens inside.

    Raises `LabError` on entry if it cannot be built.
    """

    def __init__(
        self, config: LabConfig, on_path: Callable[[JsonMapping], None] | None = None
    ) -> None:
        """Prepare a lab; `on_path` is called in another thread with each `path` event.

        See `watch_interval_ms`.
        """
        self._config = config
        self._on_path = on_path
        self._summary: LabSummary | None = None
        self._first_connection = 0
        self.ready: Ready
        self.external_server_pid: int | None = None
        """The process ID of an external server's command; None if the lab's servers respond."""

    def __enter__(self) -> Self:
        self._conversation = Conversation("the lab", [find_binary(), "up"], self._is_path)
        try:
            self._conversation.say(self._config.message())
            self.ready = ready = Ready.of(self._conversation.wait_for("ready", READY_TIMEOUT_S))
            logger.info("the lab is up after %.0f ms, process %d", ready.startup_ms, ready.init_pid)
        except BaseException:
            self._conversation.end(END_GRACE_S)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._summary is None:
            if kind is None:
                self.stop()
            else:
                self._conversation.end(END_GRACE_S)

    @property
    def command_prefix(self) -> tuple[str, ...]:
        """Prefix that runs a command on the client side of this lab."""
        return (*self._enter(self.ready.client_cores), "--")

    @property
    def server_command_prefix(self) -> tuple[str, ...]:
        """Prefix that runs a command in the servers' network namespace."""
        prefix = self._enter(self.ready.reserved_cores)
        return (*prefix, "--server-tid", str(self.ready.server_tid), "--")

    @property
    def external_server_prefix(self) -> tuple[str, ...]:
        """Prefix that runs an external server in that namespace, with our servers' priority."""
        *prefix, end = self.server_command_prefix
        return (*prefix, *(("--realtime",) if self.ready.server_realtime_priority else ()), end)

    def _enter(self, cores: Iterable[int] | None) -> tuple[str, ...]:
        prefix = (find_binary(), "enter", "--pid", str(self.ready.init_pid))
        return prefix if cores is None else (*prefix, "--cores", ",".join(map(str, cores)))

    def revisit(self, *, connections_stay: bool = False) -> None:
        """Begin another page load: `stop` then reports requests and connections from now on.

        With `connections_stay` connections that are still open count for the next load, too.
        """
        self._conversation.say({"command": "revisit"})
        event = self._conversation.wait_for("revisit", STOP_TIMEOUT_S)
        if not connections_stay:
            self._first_connection = event["connection"]
        self._conversation.events.clear()

    def stop(self) -> LabSummary:
        """Stop the lab and return its summary; raises `LabError` if it had failed."""
        if self._summary is not None:
            return self._summary
        try:
            self._conversation.say({"command": "stop"})
            summary = self._conversation.wait_for("summary", STOP_TIMEOUT_S)
        finally:
            self._conversation.end(END_GRACE_S)
        events = self._conversation.events

        def of_kind(kind: str) -> tuple[JsonMapping, ...]:
            return tuple(event for event in events if event["event"] == kind)

        first = self._first_connection
        opened = (entry for entry in of_kind("connection") if entry["connection"] >= first)
        connections, path = with_marks(opened, summary["path"])
        self._summary = LabSummary(
            of_kind("request"),
            connections,
            path,
            summary.get("cross_traffic"),
            tuple(error["message"] for error in of_kind("error")),
            summary.get("server_cpu_s"),
            _read_suspended(summary),
            summary.get("live"),
        )
        return self._summary

    def _is_path(self, event: JsonMapping) -> bool:
        if event["event"] != "path":
            return False
        if self._on_path is not None:
            self._on_path(event)
        return True


def _read_suspended(summary: JsonMapping) -> tuple[JsonMapping, ...] | None:
    """Return the suspended processes in a `summary`; None if processes were not watched."""
    seen = summary.get("suspended")
    return None if seen is None else tuple(seen)


def needs_no_resolver(host: str) -> bool:
    """Return whether browsers resolve the host themselves (RFC 6761, section 6.3)."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def find_lost_outside(path: JsonMapping) -> list[tuple[str, str, int]]:
    """Return packets lost outside of the path's stages, as (end, place, number)."""
    return [
        (end, source, count)
        for end, lost in path["lost_outside"].items()
        for source, count in (lost or {}).items()
        if count
    ]


def with_marks(
    connections: Iterable[JsonMapping], path: JsonMapping
) -> tuple[tuple[JsonMapping, ...], JsonObject]:
    """Return the connections, each with its `ecn` marks, and the path without counts by connection.

    `ecn` is None if the path had no packet of the connection. The path keeps the sums.
    """
    marks = {
        (flow["protocol"], flow["client"], flow["server"]): {
            way: flow[way] for way in ("down", "up")
        }
        for flow in path.get("connections", ())
    }

    def marked(connection: JsonMapping) -> JsonMapping:
        transport = "udp" if connection["protocol"] == "h3" else "tcp"
        ends = (transport, connection.get("client"), connection.get("address"))
        return {**connection, "ecn": marks.get(ends)}

    rest = {name: value for name, value in path.items() if name != "connections"}
    return tuple(map(marked, connections)), rest


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


IPV4_ALONE = (
    "live loads are over IPv4 alone: this machine has IPv6, but forwards no packets of it; "
    "docs/guides/live.md says how it would"
)


class LiveNetwork:
    """A network namespace that reaches public servers only, for the duration of a `with` block.

    Browsers started with `command_prefix` connect directly to the real servers. Hosts that are not
    public are reachable if `allow` has their address or range. `upstream_ca` is a file of
    certificates (PEM) to trust in addition to the browser's own. Raises `LabError` on entry if it
    cannot be created.
    """

    def __init__(self, allow: Sequence[str] = (), upstream_ca: Path | None = None) -> None:
        command = [find_binary(), "live"]
        for entry in allow:
            command += ["--allow", entry]
        if upstream_ca is not None:
            command += ["--upstream-ca", str(upstream_ca.resolve())]
        self._command = command
        self.spki_sha256: str | None = None
        """Keys that Chromium must be set to trust, separated by commas."""
        self.command_prefix: tuple[str, ...] = ()
        """Prefix of a browser's command."""
        self.remark = ""
        """The difference from the machine's own network, in words; "" if there is none."""
        self.startup_ms = 0.0

    def __enter__(self) -> Self:
        self._conversation = Conversation("the live network", self._command)
        try:
            ready = self._conversation.wait_for("ready", READY_TIMEOUT_S)
        except BaseException:
            self._conversation.end(END_GRACE_S)
            raise
        self.spki_sha256 = ",".join(ready["spki_sha256"]) or None
        self.command_prefix = (find_binary(), "enter", "--pid", str(ready["init_pid"]), "--")
        self.remark = IPV4_ALONE if ready["ipv6_not_forwarded"] else ""
        self.startup_ms = ready["startup_ms"]
        return self

    def stop(self) -> LabSummary:
        """Stop it, once, and return its summary of the load; raises `LabError` if it had failed."""
        try:
            self._conversation.say_no_more()
            summary = self._conversation.wait_for("summary", STOP_TIMEOUT_S)
        finally:
            self._conversation.end(END_GRACE_S)
        return LabSummary(suspended=_read_suspended(summary))

    def __exit__(self, *_: object) -> None:
        self._conversation.end(END_GRACE_S)
