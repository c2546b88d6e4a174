"""Who does not want to be asked: names with everything below them, and ranges of addresses."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from eyelevel.errors import ScanError

NOT_PUBLIC = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "224.0.0.0/3",
    "::/127",
    "fc00::/7",
    "fe80::/10",
    "ff00::/8",
)
"""Ranges of no public server (RFC 6890): a name that resolves there must not turn a scan on the
network from which it runs."""


@dataclass(frozen=True)
class OptOut:
    """Names and ranges."""

    names: frozenset[str] = frozenset()
    ranges: tuple[str, ...] = ()

    def covers(self, name: str) -> bool:
        """Whether the name or one above it is listed."""
        labels = name.split(".")
        return any(".".join(labels[start:]) in self.names for start in range(len(labels)))


def read_opt_out(path: Path) -> OptOut:
    """A file with a name, address or range a line. Raises ScanError."""
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            return parse_opt_out(stream)
    except OSError as error:
        raise ScanError(f"cannot read {path}: {error.strerror}") from error


def parse_opt_out(lines: Iterable[str]) -> OptOut:
    """`example.com` stands for everything below it, too, as `*.example.com` does."""
    names, ranges = set(), []
    for line in lines:
        text = line.partition("#")[0].strip().lower()
        if not text:
            continue
        try:
            ranges.append(str(ipaddress.ip_network(text, strict=False)))
        except ValueError:
            names.add(text.removeprefix("*.").rstrip("."))
    return OptOut(frozenset(names), tuple(ranges))
