"""Decide whether a network blocks QUIC, from rows of TLS and QUIC to the same addresses."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from eyelevel.base.json_types import JsonMapping, JsonObject

PROTOCOLS = ("tls1.3", "quic")
BLOCKED_MIN = 2
"""Minimum number of servers without an answer that indicates the network: a single one may
itself be at fault.
"""

NO_ANSWER = frozenset(("quic-timeout", "refused", "unreachable"))
"""Failures that blocked UDP causes: silence, or a firewall's ICMP."""

_ALTERNATIVE = re.compile(r'(?:^|[,;\s])h3="([^":]*):(\d{1,5})"')


@dataclass(frozen=True)
class Reached:
    """Results of the attempts on one address."""

    host: str
    port: int
    address: str | None
    tls: int
    """Number of attempts over TCP and TLS 1.3 that connected."""
    offers_h3: bool
    """Whether `Alt-Svc` offers HTTP/3 at this host and port (RFC 9114, section 3.1.1)."""
    quic: int
    """Number of attempts over QUIC that the server answered in any way."""
    quic_silent: int
    """Number of attempts over QUIC without any answer."""
    state: str
    """`passes`, `blocked` or `unknown`."""

    def as_json(self) -> JsonObject:
        """Return the fields as documented in docs/reference/probe.md."""
        return dict(vars(self))


@dataclass(frozen=True)
class Passage:
    """The verdict, and the hosts that it is based on."""

    verdict: str
    """`passes`, `blocked` or `undetermined`."""
    why: str
    hosts: list[Reached]

    def as_json(self) -> JsonObject:
        """Return the fields as documented in docs/reference/probe.md."""
        hosts = [each.as_json() for each in self.hosts]
        return {"verdict": self.verdict, "why": self.why, "hosts": hosts}


def passage(rows: Iterable[JsonMapping]) -> Passage:
    """Decide from all rows whether UDP passes.

    One answer over QUIC shows that it does. Silence shows that it does not only if the same
    addresses of several servers answer over TCP and offer HTTP/3.
    """
    groups: dict[tuple[str, int, str | None], list[JsonMapping]] = {}
    for row in rows:
        groups.setdefault((row["host"], row["port"], row["address"]), []).append(row)
    hosts = [_group_attempts(*key, group) for key, group in groups.items()]
    passing = [each for each in hosts if each.state == "passes"]
    silent = [each for each in hosts if each.state == "blocked"]
    blocked = {each.address for each in silent}
    if passing:
        rest = f"; none from {len(blocked)} that offer it" if blocked else ""
        return Passage("passes", f"{len(passing)} of {len(hosts)} answered{rest}", hosts)
    if _servers(silent) >= BLOCKED_MIN:
        why = f"{len(blocked)} addresses answer over TCP and offer HTTP/3, none answers over UDP"
        return Passage("blocked", why, hosts)
    if blocked:
        why = "one server that offers HTTP/3 does not answer over UDP: it may be at fault itself"
        return Passage("undetermined", f"{why}; name other hosts as well", hosts)
    why = "no host answered over UDP, and none offers HTTP/3 over TCP"
    return Passage("undetermined", f"{why}: name hosts that speak it", hosts)


def _servers(hosts: Iterable[Reached]) -> int:
    """Return a lower bound of the number of servers: hosts that share an address count as one."""
    servers: list[set[str | None]] = []
    for each in hosts:
        one: set[str | None] = {each.host, each.address}
        met = [server for server in servers if server & one]
        servers = [server for server in servers if not server & one] + [one.union(*met)]
    return len(servers)


def _group_attempts(host: str, port: int, address: str | None, rows: list[JsonMapping]) -> Reached:
    tls = [row for row in rows if row["protocol"] == "tls1.3" and row["failure"] is None]
    quic = [row for row in rows if row["protocol"] == "quic"]
    answered = sum(_is_answered(row) for row in quic)
    silent = sum(row["failure"] in NO_ANSWER and not _is_answered(row) for row in quic)
    offered = {found for row in tls for found in _ALTERNATIVE.findall(row["alt_svc"] or "")}
    here = ("", host.lower())
    offers_h3 = any(name.lower() in here and int(at) == port for name, at in offered)
    if answered:
        state = "passes"
    elif offers_h3 and quic and silent == len(quic):
        state = "blocked"
    else:
        state = "unknown"
    return Reached(host, port, address, len(tls), offers_h3, answered, silent, state)


def _is_answered(row: JsonMapping) -> bool:
    """Return whether the server sent any packet, even in a failed handshake."""
    return row["failure"] is None or row["rtt_us"] is not None or bool(row["version_negotiation"])
