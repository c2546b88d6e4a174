"""Summarise rows of probes by host and protocol: attempts, failures, and medians."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

from eyelevel.base.json_types import JsonMapping


@dataclass
class _Group:
    attempts: int = 0
    connection_us: list[int] = field(default_factory=list)
    first_byte_us: list[int] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Line:
    """One host over one protocol; medians are over successful attempts, None without any."""

    host: str
    protocol: str
    attempts: int
    failed: int
    connection_us: float | None
    first_byte_us: float | None
    classes: str
    """Classes of failures with their counts, most frequent first."""


class Summary:
    """Collects rows one at a time; full and resumed handshakes are separate."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str], _Group] = {}

    def take(self, row: JsonMapping) -> None:
        """Count one attempt."""
        port = "" if row["port"] == 443 else f":{row['port']}"
        kind = " resumed" if row["resumption_offered"] else ""
        group = self._groups.setdefault(
            (f"{row['host']}{port}", f"{row['protocol']}{kind}"), _Group()
        )
        group.attempts += 1
        if row["failure"]:
            group.failures[row["failure"]] += 1
            return
        for times, key in (
            (group.connection_us, "connection_us"),
            (group.first_byte_us, "first_byte_us"),
        ):
            if row[key] is not None:
                times.append(row[key])

    @property
    def is_worth_showing(self) -> bool:
        """Whether there is more than one host, or more than one attempt over a protocol."""
        hosts = {host for host, _ in self._groups}
        return len(hosts) > 1 or any(group.attempts > 1 for group in self._groups.values())

    def lines(self) -> Iterator[Line]:
        """Yield one line per host and protocol, in the order of their first attempts."""
        for (host, protocol), group in self._groups.items():
            yield Line(
                host,
                protocol,
                group.attempts,
                group.failures.total(),
                median(group.connection_us) if group.connection_us else None,
                median(group.first_byte_us) if group.first_byte_us else None,
                ", ".join(f"{name} {count}" for name, count in group.failures.most_common()),
            )
