"""Does a network let QUIC through? From rows of TLS and QUIC to the same addresses."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from eyelevel.json_types import JsonMapping, JsonObject

PROTOCOLS = ("tls1.3", "quic")
BLOCKED_MIN = 2
"""Addresses without an answer before the network is at fault: of one, its server may be."""

NO_ANSWER = frozenset(("quic-timeout", "refused", "unreachable"))
"""What blocked UDP looks like: silence, or a firewall's ICMP."""

_ALTERNATIVE = re.compile(r'(?:^|[,;\s])h3="[^":]*:(\d{1,5})"')


@dataclass(frozen=True)
class Reached:
    """What came of the attempts on one address."""

    host: str
    port: int
    address: str | None
    tls: int
    """Attempts over TCP and TLS 1.3 that connected."""
    offers_h3: bool
    """`Alt-Svc` names HTTP/3 at this port (RFC 9114, section 3.1.1)."""
    quic: int
    """Attempts over QUIC to which the server said anything."""
    quic_silent: int
    """Those to which nothing came."""
    state: str
    """`passes`, `blocked` or `unknown`."""

    def as_json(self) -> JsonObject:
        """The documented shape (docs/reference/probe.md)."""
        return dict(vars(self))


@dataclass(frozen=True)
class Passage:
    """The answer, and what it is of."""

    verdict: str
    """`passes`, `blocked` or `undetermined`."""
    why: str
    hosts: list[Reached]

    def as_json(self) -> JsonObject:
        """The documented shape (docs/reference/probe.md)."""
        hosts = [each.as_json() for each in self.hosts]
        return {"verdict": self.verdict, "why": self.why, "hosts": hosts}


def passage(rows: Iterable[JsonMapping]) -> Passage:
    """Of all rows. One answer over QUIC shows that it passes; silence shows that it does not only
    where the same addresses answer over TCP and offer HTTP/3."""
    groups: dict[tuple[str, int, str | None], list[JsonMapping]] = {}
    for row in rows:
        groups.setdefault((row["host"], row["port"], row["address"]), []).append(row)
    hosts = [_reached(*key, group) for key, group in groups.items()]
    passing = [each for each in hosts if each.state == "passes"]
    blocked = {each.address for each in hosts if each.state == "blocked"}
    if passing:
        rest = f"; none from {len(blocked)} that offer it" if blocked else ""
        return Passage("passes", f"{len(passing)} of {len(hosts)} answered{rest}", hosts)
    if len(blocked) >= BLOCKED_MIN:
        why = f"{len(blocked)} addresses answer over TCP and offer HTTP/3, none answers over UDP"
        return Passage("blocked", why, hosts)
    if blocked:
        why = "one address that offers HTTP/3 does not answer over UDP: it may be at fault itself"
        return Passage("undetermined", f"{why}, name other hosts as well", hosts)
    why = "no host answered over UDP, and none offers HTTP/3 over TCP"
    return Passage("undetermined", f"{why}: name hosts that speak it", hosts)


def _reached(host: str, port: int, address: str | None, rows: list[JsonMapping]) -> Reached:
    tls = [row for row in rows if row["protocol"] == "tls1.3" and row["failure"] is None]
    quic = [row for row in rows if row["protocol"] == "quic"]
    answered = sum(_is_answered(row) for row in quic)
    silent = sum(row["failure"] in NO_ANSWER and not _is_answered(row) for row in quic)
    ports = {int(found) for row in tls for found in _ALTERNATIVE.findall(row["alt_svc"] or "")}
    offers_h3 = port in ports
    if answered:
        state = "passes"
    elif offers_h3 and quic and silent == len(quic):
        state = "blocked"
    else:
        state = "unknown"
    return Reached(host, port, address, len(tls), offers_h3, answered, silent, state)


def _is_answered(row: JsonMapping) -> bool:
    """Any packet of the server's is proof, of a handshake that failed, too."""
    return row["failure"] is None or row["rtt_us"] is not None or bool(row["version_negotiation"])
