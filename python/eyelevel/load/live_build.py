"""A running live build: where labs reach it, and what it costs a load."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from eyelevel.base.json_types import JsonMapping, JsonObject

_TICKS_S = os.sysconf("SC_CLK_TCK")
_SESSION, _TIMES = 3, slice(11, 15)
"""Places after the program's name in `/proc/PID/stat`: the session; user and system time of the
process and of its children that have ended."""
HTTP_PORT = 80


@dataclass(frozen=True)
class LiveBuild:
    """A server on this machine that answers for a variant's pages."""

    url: str
    host: str
    """The host by which it is named."""
    address: str
    """The address at which it listens."""
    port: int
    session: int | None = None
    """The session of its processes; None if somebody else started it."""
    find_end: Callable[[], str] = lambda: ""
    """Returns a sentence once it ended; empty before."""

    def lab_setting(self) -> JsonObject:
        """Return the lab's `live` object (spec/lab-events.md)."""
        own = dict.fromkeys((self.host, "localhost", "127.0.0.1", "::1", "0.0.0.0"))
        hosts = [_format_host(host) for host in own]
        authorities = [f"{host}:{self.port}" for host in hosts]
        if self.port == HTTP_PORT:
            authorities += hosts
        return {
            "address": f"{_format_host(self.address)}:{self.port}",
            "authorities": authorities,
        }

    def cpu_s(self) -> float | None:
        """Return the processor time of all its processes so far; None if they are not known."""
        if self.session is None:
            return None
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = (
                    stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
                )
            except OSError:  # it ended meanwhile
                continue
            if int(fields[_SESSION]) == self.session:
                ticks += sum(map(int, fields[_TIMES]))
        return ticks / _TICKS_S


def describe_load(
    build: LiveBuild, seen: JsonMapping, cpu_s: float | None, *, are_others_blocked: bool
) -> JsonObject:
    """Return the record's `live` (spec/run-record.md); `seen` is the lab's."""
    return {
        "url": build.url,
        "others": "blocked" if are_others_blocked else "recorded",
        "server_cpu_s": cpu_s,
        **seen,
    }


def _format_host(host: str) -> str:
    """Return a host as a URL has it: an IPv6 address in brackets (RFC 3986, section 3.2.2)."""
    return f"[{host}]" if ":" in host else host
