"""Compare servers by rows of blocks, in each of which every server was probed once.

Differences are taken within blocks, so that drift of the machine cancels out.

Read the rows of a comparison of servers that was interrupted, so that it can be resumed.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from eyelevel.analysis.stats.binomial import binomial_interval
from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL, Estimate, undetermined
from eyelevel.analysis.stats.families import holm
from eyelevel.analysis.stats.paired import median_estimate
from eyelevel.base.errors import ProbeError
from eyelevel.base.from_outside.files import lines_of
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import DOCUMENT, LINE_BYTES_MAX, PROBES
from eyelevel.base.from_outside.source import Source
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.probes.protocols import THESIS_NAMES

FULL, RESUMED = "full", "resumed"
COSTS = ("round_trips", "certificate_bytes", "received_bytes", "sent_bytes")
DATAGRAM_BYTES = 1200
"""Minimum size of a datagram with a client's Initial (RFC 9000, section 14.1)."""
NOTABLE_BYTES_MIN = 100
"""Minimum difference of certificate chains that is reported; signatures vary by a few bytes."""
NO_REFERENCE = "the reference has no such handshake"
ITSELF = "this is the reference"


@dataclass(frozen=True)
class Side:
    """One server, protocol and handshake, with its rows by block."""

    server: str
    protocol: str
    handshake: str
    rows: tuple[JsonMapping, ...]

    @property
    def good(self) -> list[JsonMapping]:
        """Return the attempts that connected, and resumed if they should."""
        wanted = self.handshake == RESUMED
        return [
            row
            for row in self.rows
            if row["failure"] is None
            and row["connection_us"] is not None
            and row["resumed"] == wanted
        ]

    @property
    def failures(self) -> list[JsonMapping]:
        """Return the attempts without a connection or without an answer."""
        return [row for row in self.rows if row["failure"] is not None]

    def middle(self, name: str) -> float | None:
        """Return the median of a column over blocks; None without values."""
        values = [row[name] for row in self.good if row[name] is not None]
        return float(median(values)) if values else None

    def by_block_ms(self) -> dict[int, float]:
        """Return connection times, ms, by block."""
        return {row["block"]: row["connection_us"] / 1000 for row in self.good}


def side_by_side(rows: Iterable[JsonMapping], servers: Sequence[str]) -> list[JsonObject]:
    """Return one entry per protocol, handshake and server, in the order of `servers`.

    The first server is the reference; the fields are documented in docs/reference/probe.md.
    `difference_ms` is the median over blocks of server - reference: above 0 it took longer.
    """
    grouped: dict[tuple[str, str, str], list[JsonMapping]] = defaultdict(list)
    for row in rows:
        handshake = RESUMED if row["resumption_offered"] else FULL
        grouped[row["protocol"], handshake, row["probed_server"]].append(row)
    entries: list[JsonObject] = []
    claims: list[float | None] = []
    for protocol in THESIS_NAMES:
        for handshake in (FULL, RESUMED):
            sides = [
                Side(name, protocol, handshake, tuple(grouped[protocol, handshake, name]))
                for name in servers
                if (protocol, handshake, name) in grouped
            ]
            reference = next((side for side in sides if side.server == servers[0]), None)
            for side in sides:
                difference = _difference(side, reference)
                claims.append(difference.p)
                entries.append(_entry(side, reference) | {"difference_ms": difference.as_json()})
    needed = _count_blocks_needed(claims, max((entry["connected"] for entry in entries), default=0))
    for entry, p in zip(entries, holm(claims), strict=True):
        verdict = _verdict(entry["difference_ms"]["value"], None if needed else p)
        entry |= {"p_holm": p, "verdict": verdict, "blocks_needed": needed}
    return entries


def _count_blocks_needed(claims: Sequence[float | None], blocks: int) -> int | None:
    """Return how many blocks a verdict needs.

    Returns None if the same sign in all `blocks` would suffice.
    """
    compared = sum(p is not None for p in claims)
    if compared * 2.0 ** (1 - blocks) <= SIGNIFICANCE_LEVEL:
        return None
    return math.ceil(1 + math.log2(compared / SIGNIFICANCE_LEVEL))


def _difference(side: Side, reference: Side | None) -> Estimate:
    if reference is None:
        return undetermined(NO_REFERENCE)
    if side is reference:
        return undetermined(ITSELF)
    own, other = side.by_block_ms(), reference.by_block_ms()
    both = [own[block] - other[block] for block in own.keys() & other.keys()]
    return median_estimate(both, "blocks") if both else undetermined("no block has both")


def _entry(side: Side, reference: Side | None) -> JsonObject:
    times = list(side.by_block_ms().values())
    time = median_estimate(times, "blocks") if times else undetermined("none connected")
    time = Estimate(time.value, time.low, time.high, n=time.n, reason=time.reason)
    entry: JsonObject = {
        "server": side.server,
        "protocol": side.protocol,
        "handshake": side.handshake,
        "attempts": len(side.rows),
        "connected": sum(row["failure"] is None for row in side.rows),
        "failed_share": _compute_failed_share(side.rows),
        "failed_in": dict(Counter(map(find_failed_flight, side.failures))),
        "resumed": sum(bool(row["resumed"]) for row in side.rows),
        "connection_ms": time.as_json(),
    }
    entry |= {name: side.middle(name) for name in COSTS}
    return entry | {"why": _explain_cost(side, reference)}


def _explain_cost(side: Side, reference: Side | None) -> list[str]:
    """Return what explains the handshake's cost, and how it differs from the reference's."""
    found = []
    connected = [row for row in side.rows if row["failure"] is None]
    if side.failures:
        share = _compute_failed_share(side.rows)
        found.append(
            f"{len(side.failures)} of {len(side.rows)} failed "
            f"(95 % interval {share['low']:.0%} to {share['high']:.0%})"
        )
        for (failure, flight), count in Counter(
            (row["failure"], find_failed_flight(row)) for row in side.failures
        ).items():
            found.append(f"{count} {failure} in {flight}")
    if side.handshake == RESUMED and (failed := len(connected) - len(side.good)):
        found.append(f"{failed} of {len(connected)} not resumed: no ticket, or not taken")
    if side.middle("retries"):
        found.append("Retry, to validate the address: 1 round trip")
    if _is_mostly(side, "hello_retry_request"):
        found.append("HelloRetryRequest, for another key share: 1 round trip")
    if extra := side.middle("extra_round_trips"):
        trips = "1 round trip" if extra == 1 else f"{extra:g} round trips"
        found.append(f"{trips} that no handshake needs: {_cause(side, reference)}")
    if reference is None or side is reference:
        return found
    for name, what in (("certificate_bytes", "in the chain"), ("received_bytes", "received")):
        more = (side.middle(name) or 0) - (reference.middle(name) or 0)
        if abs(more) >= NOTABLE_BYTES_MIN and side.middle(name) is not None:
            found.append(f"{more:+.0f} bytes {what}")
    return found


def _compute_failed_share(rows: Sequence[JsonMapping]) -> JsonObject:
    """Return the share of attempts that failed, with Clopper and Pearson's 95 % interval."""
    failed = sum(row["failure"] is not None for row in rows)
    low, high = binomial_interval(failed, len(rows), 1 - SIGNIFICANCE_LEVEL)
    return {"value": failed / len(rows), "low": low, "high": high}


def find_failed_flight(row: JsonMapping) -> str:
    """Return the flight in which an attempt failed, by what had arrived until then.

    An attempt to resume a session that the connection before did not give is never started.
    """
    if row["failure"] == "no-session":
        return "the connection before it"
    over_quic = row["protocol"].startswith("quic")
    if not over_quic and row["tcp_handshake_us"] is None:
        return "TCP's handshake"
    if row["connection_us"] is not None:
        return "the request"
    if not row["received_bytes"]:
        return "the client's first flight, which was not answered"
    return "the server's first flight"


def _cause(side: Side, reference: Side | None) -> str:
    """Return the likely cause of an unnecessary round trip; retransmissions indicate loss."""
    sent, other = side.middle("sent_bytes"), reference and reference.middle("sent_bytes")
    if side.protocol.startswith("quic") and sent and other and sent - other >= DATAGRAM_BYTES:
        return "the client had to send datagrams again"
    return "a chain beyond QUIC's threefold limit, or a loss"


def _is_mostly(side: Side, name: str) -> bool:
    return 2 * sum(bool(row[name]) for row in side.good) > len(side.good)


def _verdict(value: float | None, p: float | None) -> str:
    if p is None or value is None:
        return "undetermined"
    if p > SIGNIFICANCE_LEVEL or value == 0:
        return "no clear difference"
    return "slower" if value > 0 else "faster"


Place = tuple[int, str, str]
"""Block, server and protocol of a visit."""

_NUMBERS = (
    "connection_us",
    "tcp_handshake_us",
    "round_trips",
    "extra_round_trips",
    "certificate_bytes",
)
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("probed_server", "protocol"), (str,)),
    **dict.fromkeys(("block", "visit_row", "visit_rows"), (int,)),
    "failure": (str, type(None)),
    **dict.fromkeys(("resumed", "resumption_offered", "hello_retry_request"), (bool, type(None))),
    **dict.fromkeys(
        (*_NUMBERS, "received_bytes", "sent_bytes", "retries"), (int, float, type(None))
    ),
}
"""Keys that are read of a row, with their types."""


def run_row(about: JsonMapping) -> JsonObject:
    """Return the row that precedes a run's rows: what was compared, and over which networks."""
    return {"event": "servers", "about": about}


def read_rows(path: Path, about: JsonMapping) -> dict[Place, list[JsonObject]]:
    """Return the rows of each complete visit of the file's last run, which must have this `about`.

    A visit that was interrupted and repeated has its later rows. Raises `ProbeError`, naming the
    line.
    """
    last: object = None
    found: dict[Place, list[JsonObject]] = defaultdict(list)
    for number, line in lines_of(path, Source(str(path), PROBES, ProbeError), LINE_BYTES_MAX):
        place = f"{path}, line {number}"
        row = parse_object(line.encode(), Source(place, DOCUMENT, ProbeError))
        if row.get("event") == "servers":
            last = row.get("about")
            found.clear()
        elif row.get("event") == "attempt":
            _check(row, place)
            visit = row["block"], row["probed_server"], row["protocol"]
            if row["visit_row"] == 0:
                found[visit] = []
            found[visit].append(row)
    if last is None:
        raise ProbeError(f"{path} holds no comparison of servers: leave out --resume")
    if _text(last) != _text(about):
        raise ProbeError(
            f"{path} was begun with other servers, another network or another seed: give the "
            "same ones, or choose another --out"
        )
    return {place: rows for place, rows in found.items() if len(rows) == rows[0]["visit_rows"]}


def _text(value: object) -> str:
    """Return canonical JSON, so that tuples and lists are equal."""
    return json.dumps(value, sort_keys=True)


def _check(row: JsonMapping, place: str) -> None:
    for name, kinds in _KINDS.items():
        value = row.get(name)
        is_other = bool not in kinds and isinstance(value, bool)
        if name not in row or is_other or not isinstance(value, kinds):
            raise ProbeError(f"{place}: {name} is not as the prober writes it; drop the line")
