"""Parse options for targets, durations and protocols.

Read lists of hosts to probe, and find those that a file of rows already has. Compute when the
rounds of a repeated measurement are due (pure).
"""

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from eyelevel.base.errors import ProbeError
from eyelevel.base.from_outside.files import lines_of
from eyelevel.base.from_outside.host_lists import Host, LeftOut, parse_host, read_hosts
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import DOCUMENT, LINE_BYTES_MAX, PROBES, TARGETS
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.probes.protocols import THESIS_NAMES

PORT = 443
_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True)
class ProbeTargetName:
    """A host with its port and path."""

    host: str
    port: int
    path: str

    def as_config(self, connect: str | None) -> JsonObject:
        """Return the target as in `spec/probe.md`.

        `connect` is an address to use instead of DNS.
        """
        return {"host": self.host, "port": self.port, "path": self.path, "connect": connect}


def parse_target(text: str) -> ProbeTargetName:
    """Parse `HOST[:PORT][/PATH]`, or a URL, whose port is kept. Raises `ProbeError`."""
    try:
        return _target_of(parse_host(text))
    except ValueError as error:
        raise ProbeError(
            f"`{excerpt(text)}` is not a HOST[:PORT][/PATH] ({excerpt(error)}); write it as "
            "www.example.com/index.html"
        ) from error


def _target_of(host: Host) -> ProbeTargetName:
    """Return the target of a host: port 443 if it has none, and IPv6 in brackets."""
    name = f"[{host.name}]" if ":" in host.name else host.name
    return ProbeTargetName(name, host.port or PORT, host.path)


def parse_protocols(text: str, option: str = "--protocols") -> list[str]:
    """Parse a comma-separated list.

    Raises `ProbeError` naming the option and the known protocols.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in THESIS_NAMES]
    if unknown or not names:
        known = ", ".join(THESIS_NAMES)
        raise ProbeError(f"{option} {excerpt(text)}: choose among {known}, separated by commas")
    return list(dict.fromkeys(names))


def protocols_of_stacks(stacks: Sequence[tuple[str, str]]) -> list[str]:
    """Return the protocols to probe for stacks, given as (HTTP version, TLS version)."""
    names = {
        "quic" if http == "h3" else {"1.2": "tls1.2", "1.3": "tls1.3"}.get(tls, "tcp")
        for http, tls in stacks
    }
    return [name for name in THESIS_NAMES if name in names]


def parse_duration_s(text: str, option: str) -> float:
    """Parse a duration such as `250ms`, `30s`, `5m`, `1h` or `7d`; raises `ProbeError`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)", text.strip())
    if match is None or float(match[1]) <= 0:
        raise ProbeError(f"{option} {text}: write a duration such as 250ms, 30s, 5m, 1h or 7d")
    return float(match[1]) * _UNITS_S[match[2]]


def parse_connect(text: str, *, v4: bool, v6: bool) -> str:
    """Parse an address of a requested family; raises `ProbeError`."""
    try:
        address = ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        message = f"--connect {text}: write an IP address, such as 192.0.2.1 or 2001:db8::1"
        raise ProbeError(message) from None
    if (address.version == 6 and not v6) or (address.version == 4 and not v4):
        other = 6 if address.version == 4 else 4
        raise ProbeError(f"--connect {text} is an IPv{address.version} address: leave out -{other}")
    return str(address)


def parse_resolver(text: str) -> str:
    """Parse an address with or without a port to `ADDRESS:PORT`; raises `ProbeError`."""
    try:
        address = ipaddress.ip_address(text.strip("[]"))
        return f"[{address}]:53" if address.version == 6 else f"{address}:53"
    except ValueError:
        host, _, port = text.rpartition(":")
        try:
            address = ipaddress.ip_address(host.strip("[]"))
        except ValueError:
            address = None
        if address is None or not port.isdecimal() or not 0 < int(port) < 65536:
            message = f"--resolver {text}: write an address, such as 9.9.9.9 or [2620:fe::fe]:53"
            raise ProbeError(message) from None
        return text


Key = tuple[str, int, str]
"""Host, port and path of a target."""


def read_targets(path: Path, note: Callable[[str], None] = lambda _: None) -> list[ProbeTargetName]:
    """Read the targets of a list, each once and in order.

    `note` is called with the lines that are left out. Raises `ProbeError` if there is no target.
    """
    source, left_out = Source(str(path), TARGETS, ProbeError), LeftOut()
    hosts = read_hosts(path, source, left_out)
    found = list(dict.fromkeys(_target_of(host) for _, host in hosts))
    if not found:
        raise left_out.refusal(source)
    left_out.report(note)
    return found


def list_row(count: int) -> JsonObject:
    """Return the row that precedes a list's rows."""
    return {"event": "list", "targets": count}


def target_row(key: Key) -> JsonObject:
    """Return the row that follows a target's last row."""
    return {"event": "target", "host": key[0], "port": key[1], "path": key[2]}


def key_of(row: JsonMapping) -> Key:
    """Return the key of a row, or of a target in a configuration."""
    return (row["host"], row["port"], row["path"])


def read_finished_targets(path: Path) -> set[Key]:
    """Return the targets of the file's last list whose rows are complete.

    Raises `ProbeError` if the file has no list, or naming a line that eyelevel did not write.
    """
    found: set[Key] | None = None
    for number, line in lines_of(path, Source(str(path), PROBES, ProbeError), LINE_BYTES_MAX):
        place = f"{path}, line {number}"
        row = parse_object(line.encode(), Source(place, DOCUMENT, ProbeError))
        if row.get("event") == "list":
            found = set()
        elif row.get("event") == "target" and found is not None:
            host, port, of_host = (row.get(name) for name in ("host", "port", "path"))
            if not (isinstance(host, str) and isinstance(port, int) and isinstance(of_host, str)):
                raise ProbeError(f"{place}: it names no target: drop the line")
            found.add((host, port, of_host))
    if found is None:
        raise ProbeError(f"{path} holds no list that was begun: leave out --resume")
    return found


@dataclass(frozen=True)
class Rounds:
    """Rounds at multiples of a period after a start that outlives restarts.

    A round that would begin while another one runs, or while the program is stopped, is skipped and
    not repeated later, so that rounds never overlap or bunch.
    """

    began_unix_s: float
    every_s: float
    for_s: float

    @property
    def count(self) -> int:
        """Total number of rounds."""
        return max(1, int(-(-self.for_s // self.every_s)))

    def next_after(self, now_unix_s: float, last: int | None) -> int | None:
        """Return the number of the round to begin next, from 0; None when all are over.

        `last` is the last round that was begun.
        """
        elapsed_s = now_unix_s - self.began_unix_s
        due = int(elapsed_s // self.every_s) if elapsed_s > 0 else 0
        late_s = elapsed_s - due * self.every_s
        number = due if late_s <= 1.0 or (last is None and due == 0) else due + 1
        if last is not None:
            number = max(number, last + 1)
        return number if number < self.count else None

    def due_unix_s(self, number: int) -> float:
        """Return when a round is due, Unix time in seconds."""
        return self.began_unix_s + number * self.every_s
