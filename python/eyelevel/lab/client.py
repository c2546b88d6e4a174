"""Control a running lab: one line of JSON in, events out (spec/lab-events.md)."""

import ipaddress
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Self

from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.lab.binary import find_binary
from eyelevel.lab.conversation import Conversation

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
            read_suspended(summary),
        )
        return self._summary

    def _is_path(self, event: JsonMapping) -> bool:
        if event["event"] != "path":
            return False
        if self._on_path is not None:
            self._on_path(event)
        return True


def read_suspended(summary: JsonMapping) -> tuple[JsonMapping, ...] | None:
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
