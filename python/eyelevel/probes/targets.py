"""Parse options for targets, durations and protocols."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.base.errors import ProbeError
from eyelevel.base.from_outside.host_lists import Host, parse_host
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonObject
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
        return target_of(parse_host(text))
    except ValueError as error:
        raise ProbeError(
            f"`{excerpt(text)}` is not a HOST[:PORT][/PATH] ({excerpt(error)}); write it as "
            "www.example.com/index.html"
        ) from error


def target_of(host: Host) -> ProbeTargetName:
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
