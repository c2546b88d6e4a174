"""Scans: choose the names to query, and summarise the results.

Read the rows of a scan's file, and select hosts by their features. Summarise a scan's rows: counts,
shares and their intervals, without storing rows.

Choose the names that a scan queries.

Lists are read like those of `probe` (`eyelevel.base.from_outside.host_lists`); a scan uses only
their names. Opt-outs are names, with everything below them, and ranges of addresses.
"""

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address
from pathlib import Path

from eyelevel.analysis.stats.binomial import wilson_estimate
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.base.errors import ScanError
from eyelevel.base.from_outside.files import lines_of
from eyelevel.base.from_outside.host_lists import LeftOut, parse_host, read_hosts
from eyelevel.base.from_outside.host_names import NAME
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import (
    DOCUMENT,
    LINE_BYTES_MAX,
    NAMES,
    OPT_OUT,
    PROBES,
    WORD_LINE_BYTES_MAX,
)
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonMapping, JsonObject

_HTTPS_PORT = 443


@dataclass(frozen=True)
class OptOut:
    """Names and address ranges that a scan must not query."""

    names: frozenset[str] = frozenset()
    ranges: tuple[str, ...] = ()

    def covers(self, name: str) -> bool:
        """Return whether the name or one of its parent domains is listed."""
        labels = name.split(".")
        return any(".".join(labels[start:]) in self.names for start in range(len(labels)))

    def list_www_names(self) -> list[str]:
        """Return the listed names that a scan would try in the place of others, sorted."""
        return sorted(name for name in self.names if name.startswith("www."))


def read_names(
    path: Path,
    top: int | None = None,
    port: int = _HTTPS_PORT,
    left_out: LeftOut | None = None,
) -> Generator[str, None, None]:
    """Yield the list's names in order, each once, only the first `top` of them.

    `left_out` collects lines without a name, or with another port than the scan's.
    """
    source = Source(str(path), NAMES, ScanError)
    left_out = left_out or LeftOut()
    seen: set[str] = set()
    for number, host in read_hosts(path, source, left_out):
        if host.port not in (None, port):
            fault = f"`{excerpt(host.name)}` has port {host.port}, and a scan asks all at {port}"
            remedy = "drop the port, or scan such names by --port"
            left_out.take(source.refusal(fault, str(number), remedy))
        elif host.name not in seen:
            seen.add(host.name)
            yield host.name
            if len(seen) == top:
                return


def count_names(path: Path, top: int | None, port: int, note: Callable[[str], None]) -> int:
    """Return how many names the list has; `note` is called with the lines that are left out.

    Raises `ScanError` if it has none.
    """
    left_out = LeftOut()
    if not (count := sum(1 for _ in read_names(path, top, port, left_out))):
        raise left_out.refusal(Source(str(path), NAMES, ScanError))
    left_out.report(note)
    return count


_AS_NUMBER = re.compile(r"AS ?\d+", re.IGNORECASE | re.ASCII)
_MAPPED_BITS = 96
"""Length of the prefix `::ffff:`, bits."""


def read_opt_out(path: Path) -> OptOut:
    """Read a file with one name, address or range per line; `#` begins a comment.

    `example.com` and `*.example.com` include all names below it. Raises `ScanError` naming an
    invalid line: if it were ignored, its hosts would be queried.
    """
    source = Source(str(path), OPT_OUT, ScanError)
    names, ranges = set(), []
    for number, line in lines_of(path, source, WORD_LINE_BYTES_MAX):
        text = line.lstrip("\ufeff").partition("#")[0].strip()
        if not text:
            continue
        name = text
        if not (found := _range_of(text)):
            try:
                if _AS_NUMBER.fullmatch(text):
                    raise ValueError("a network's number; write its ranges")
                name = parse_host(text.removeprefix("*.")).name
            except ValueError as error:
                fault = f"`{excerpt(text)}` is no name, address or range ({excerpt(error)})"
                remedy = "write it as example.com or 192.0.2.0/24"
                raise source.refusal(fault, str(number), remedy) from error
            found = _range_of(name)
        if found:
            ranges.append(found)
        else:
            names.add(name)
    return OptOut(frozenset(names), tuple(ranges))


def _range_of(text: str) -> str:
    """Return an address or range as a range; "" for anything else, such as one with a zone.

    A range of IPv4 addresses that is mapped to IPv6 is one of IPv4.
    """
    try:
        found = ipaddress.ip_network(re.sub(r"^\[([^]%]*)\]", r"\1", text), strict=False)
    except ValueError:
        return ""
    if "%" in text:
        return ""
    mapped = getattr(found.network_address, "ipv4_mapped", None)
    bits = found.prefixlen - _MAPPED_BITS
    return f"{mapped}/{bits}" if mapped and bits >= 0 else str(found)


PROTOCOLS = {"tls1.3": "tls13", "quic": "quic", "http2": "http2"}
"""Field of a row that each filter reads, by the filter's name."""


def read_rows(path: Path) -> Iterator[JsonObject]:
    """Yield the rows one at a time; a last line that was cut off is ignored.

    Raises `ScanError` naming a line that is not a row.
    """
    broken: ScanError | None = None
    for number, line in lines_of(path, Source(str(path), PROBES, ScanError), LINE_BYTES_MAX):
        if broken is not None:
            raise broken
        place = f"{path}, line {number}"
        try:
            row = parse_object(line.encode(), Source(place, DOCUMENT, ScanError))
        except ScanError:
            broken = ScanError(f"{place}: no row of a scan: choose another --out")
            continue
        if not isinstance(row.get("name"), str):
            raise ScanError(f"{place}: no row of a scan: choose another --out")
        yield row


def parse_wanted(text: str) -> list[str]:
    """Parse a comma-separated list of filters to fields of a row. Raises `ScanError`."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names or set(names) - PROTOCOLS.keys():
        known = ", ".join(PROTOCOLS)
        raise ScanError(f"--names-with {text}: choose among {known}, separated by commas")
    return [PROTOCOLS[name] for name in dict.fromkeys(names)]


def targets_with(rows: Iterable[JsonMapping], fields: Sequence[str], path: Path) -> dict[str, str]:
    """Return `HOST[:PORT]` by name, for rows in which all `fields` are true.

    The host is the one that was measured: the name, or `www.` and the name. An unknown field counts
    as false. Raises `ScanError` naming `path`, the rows' file, for an invalid host.
    """
    found = {}
    for row in rows:
        if all(row.get(field) is True for field in fields):
            found[row["name"]] = _target(path, row.get("host"), row.get("port"))
    return found


def _target(path: Path, host: object, port: object) -> str:
    text = host if isinstance(host, str) else ""
    if not NAME.fullmatch(text.lower()):
        try:
            text = f"[{IPv6Address(text)}]"
        except ValueError:
            fault = f"{path}: a row's host is not a name: `{excerpt(host)}`; drop the row"
            raise ScanError(fault) from None
    if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 65536:
        raise ScanError(f"{path}: a row's port is not a port: `{excerpt(port)}`; drop the row")
    return text if port == _HTTPS_PORT else f"{text}:{port}"


FEATURES = {
    "tls13": ("TLS 1.3", "reached"),
    "http2": ("HTTP/2", "reached"),
    "post_quantum": ("post-quantum key exchange", "reached"),
    "quic": ("QUIC, by trying", "resolved"),
    "tls13_and_quic": ("TLS 1.3 and QUIC", "reached"),
    "alt_svc_h3": ("HTTP/3 in Alt-Svc", "reached"),
    "https_record_h3": ("HTTP/3 in an HTTPS record", "resolved"),
    "ipv6": ("IPv6 address", "resolved"),
    "ipv6_reached": ("TCP over IPv6", "resolved"),
}
"""Text of each feature, by field of a row, and the set of names that its share is of."""

TOGETHER = {"tls13_and_quic": ("tls13", "quic")}
"""Features that combine several fields of a row; known if all of them are."""


@dataclass(frozen=True)
class Share:
    """A share of names with its 95 % interval."""

    feature: str
    count: int
    of: int
    of_names: str

    @property
    def share(self) -> Estimate:
        """Return the share with Wilson's interval."""
        return wilson_estimate(self.count, self.of, "no names")

    def as_json(self) -> JsonObject:
        """Return the fields as documented in docs/reference/probe.md."""
        return {
            "feature": self.feature,
            "count": self.count,
            "of": self.of,
            "of_names": self.of_names,
            "share": self.share.as_json(),
        }


class Summary:
    """Counts rows one at a time."""

    def __init__(self) -> None:
        self.names = 0
        self.skipped: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.bases: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._known: Counter[str] = Counter()

    def take(self, row: JsonMapping) -> None:
        """Count one row of a scan."""
        self.names += 1
        if row.get("skipped"):
            self.skipped[row["skipped"]] += 1
            return
        if row.get("failure"):
            self.failures[row["failure"]] += 1
        bases = {
            "resolved": row.get("address") or row.get("address6"),
            "reached": row.get("tls_version"),
        }
        self.bases.update(base for base, holds in bases.items() if holds)
        for feature, (_, of_names) in FEATURES.items():
            # A name with an unknown feature is left out of that feature's share.
            values = [row.get(field) for field in TOGETHER.get(feature, (feature,))]
            if bases[of_names] and None not in values:
                self._known[feature] += 1
                self._counts[feature] += all(values)

    def shares(self) -> list[Share]:
        """Return one share per feature."""
        return [
            Share(feature, self._counts[feature], self._known[feature], of_names)
            for feature, (_, of_names) in FEATURES.items()
        ]

    def as_json(self) -> JsonObject:
        """Return the fields as documented in docs/reference/probe.md."""
        return {
            "names": self.names,
            "resolved": self.bases["resolved"],
            "reached": self.bases["reached"],
            "skipped": dict(self.skipped.most_common()),
            "failures": dict(self.failures.most_common()),
            "shares": [share.as_json() for share in self.shares()],
        }
