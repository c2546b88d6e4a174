"""Find the CDNs that served probed hosts, as far as rows show them.

Summarise probes by CDN: hosts served, connections, times, and differences. Attribute each row to a
CDN: by CNAME, then by the `Server` header, then by address range. Read the table of evidence for
CDNs: `marks.tsv` of this package, and a user's own.
"""

import ipaddress
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from eyelevel.analysis.stats.binomial import wilson_estimate
from eyelevel.base.errors import ProbeError
from eyelevel.base.from_outside.files import lines_of
from eyelevel.base.from_outside.limits import CDN_MARKS, WORD_LINE_BYTES_MAX
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.probes.differences import differences_of, in_protocols_order, judge
from eyelevel.probes.intervals import quantile_estimates
from eyelevel.probes.pairing import ALIKE, Pairs, pair_rows
from eyelevel.probes.protocols import COMPARISONS, THESIS_NAMES

PERCENTS = (50, 90)
NO_FAILURES_KEPT = "these files hold no failures"
WAYS = {"cname": "CNAME", "server": "Server", "address": "address"}
"""Evidence for a row's CDN, the most reliable first, with its title."""


@dataclass(frozen=True)
class ByCdn:
    """Tables as lists of rows, each a dictionary with the documented keys."""

    cdns: list[JsonObject]
    """One row per CDN: hosts and samples, and the number of hosts by evidence."""
    connected: list[JsonObject]
    """One row per CDN and protocol: the share of hosts that connected."""
    times: list[JsonObject]
    """One row per CDN, protocol, family and vantage point: connection times."""
    pairs: list[JsonObject]
    """One row per CDN and comparison: quantiles and shares of A - B, the median host, a verdict."""

    def as_json(self) -> JsonObject:
        """Return the tables as documented in docs/reference/probe.md."""
        return {
            "cdns": self.cdns,
            "cdn_connected": self.connected,
            "cdn_times": self.times,
            "cdn_pairs": self.pairs,
        }


def by_cdn(tables: Sequence[pl.DataFrame]) -> ByCdn:
    """Summarise tables whose rows are attributed to CDNs (`attribute_cdns`).

    CDNs precede groups of addresses, those with most hosts first, and unknown is last. A host
    served by several CDNs counts for each of them.
    """
    whole = pl.concat(tables)
    parts = {str(cdn): part for (cdn,), part in whole.partition_by("cdn", as_dict=True).items()}
    cdns = {cdn: _cdn(cdn, part) for cdn, part in parts.items()}
    order = sorted(cdns, key=lambda cdn: _rank(cdns[cdn]))
    return ByCdn(
        [cdns[cdn] for cdn in order],
        [row for cdn in order for row in _count_connected(cdn, parts[cdn])],
        [row for cdn in order for row in _times(cdn, parts[cdn])],
        _pairs(tables, order),
    )


def _cdn(cdn: str, part: pl.DataFrame) -> JsonObject:
    hosts_by = dict(part.group_by("cdn_by").agg(pl.col("host").n_unique()).iter_rows())
    return {
        "cdn": cdn,
        "hosts": part["host"].n_unique(),
        "samples": part.height,
        **{f"hosts_by_{way}": hosts_by.get(way, 0) for way in WAYS},
    }


def _rank(row: JsonMapping) -> tuple[object, ...]:
    is_group = row["hosts_by_address"] > 0
    return row["cdn"] == UNKNOWN, is_group, -row["hosts"], row["cdn"]


def describe_evidence(row: JsonMapping) -> str:
    """Return the evidence for a CDN's hosts as text, such as `CNAME 12, Server 3`."""
    counts = {title: row[f"hosts_by_{way}"] for way, title in WAYS.items()}
    nonzero = {title: count for title, count in counts.items() if count}
    if len(nonzero) == 1:
        return next(iter(nonzero))
    return ", ".join(f"{title} {count}" for title, count in nonzero.items()) or "nothing"


def _count_connected(cdn: str, part: pl.DataFrame) -> list[JsonObject]:
    """Count the hosts tried over each protocol, and those that connected at least once."""
    good = pl.col("failure").is_null() & pl.col("connection_ms").is_not_null()
    # Only the thesis's files do not record splitting, and they have no failed attempts.
    keeps_failures = pl.col("split").is_not_null()
    rows = []
    for protocol in THESIS_NAMES:
        tried = part.filter(pl.col("protocol") == protocol)
        if tried.is_empty():
            continue
        known = tried.filter(keeps_failures)
        hosts, connected = known["host"].n_unique(), known.filter(good)["host"].n_unique()
        share = wilson_estimate(connected, hosts, NO_FAILURES_KEPT).as_json()
        row = {"cdn": cdn, "protocol": protocol, "hosts": hosts, "connected": connected}
        rows.append(row | {"share": share})
    return rows


def _times(cdn: str, part: pl.DataFrame) -> list[JsonObject]:
    """Return times of successful full handshakes: resumed ones depend on the run."""
    good = part.filter(
        pl.col("failure").is_null() & pl.col("connection_ms").is_not_null() & ~pl.col("resumed")
    )
    rows = []
    keys = ["protocol", "family", "vantage"]
    for key, of_key in sorted(
        good.partition_by(keys, as_dict=True).items(), key=in_protocols_order
    ):
        values, hosts = of_key["connection_ms"].to_numpy(), of_key["host"].to_list()
        estimates = quantile_estimates(values, hosts, PERCENTS)
        row: JsonObject = {"cdn": cdn} | dict(zip(keys, key, strict=True))
        row |= {"n": of_key.height, "hosts": of_key["host"].n_unique()}
        rows.append(
            row | {f"p{p}_ms": e.as_json() for p, e in zip(PERCENTS, estimates, strict=True)}
        )
    return rows


def _pairs(tables: Sequence[pl.DataFrame], order: Sequence[str]) -> list[JsonObject]:
    """Return paired differences within each CDN, corrected over all rows of this table together."""
    rows: list[JsonObject] = []
    paired = {
        (a, b): Pairs.concatenate([pair_rows(table, a, b, (*ALIKE, "cdn")) for table in tables])
        for a, b in COMPARISONS
    }
    places: dict[tuple[str | None, str, str], list[int]] = defaultdict(list)
    for (a, b), pairs in paired.items():
        for index, cdn in enumerate(pairs.cdns):
            places[cdn, a, b].append(index)
    for cdn in order:
        for (a, b), pairs in paired.items():
            if keep := places.get((cdn, a, b)):
                rows.append({"cdn": cdn, "a": a, "b": b} | differences_of(pairs.part(keep)))
    judge(rows)
    return rows


SHIPPED = Path(__file__).with_name("marks.tsv")
KINDS = ("cname", "server")


@dataclass(frozen=True)
class Marks:
    """CDNs by suffix of a name and by value of `Server`, in lower case."""

    suffixes: dict[str, str] = field(default_factory=dict)
    servers: dict[str, str] = field(default_factory=dict)

    def of_names(self, names: Iterable[str]) -> str | None:
        """Return the CDN of the last name in a chain of CNAMEs that is in the table.

        Returns None if there is none.

        The last one, since a chain may lead from one CDN to the one that serves; of two matching
        suffixes the longer one counts.
        """
        found = None
        for name in names:
            labels = name.lower().rstrip(".").split(".")
            suffixes = (".".join(labels[first:]) for first in range(len(labels)))
            found = next((self.suffixes[each] for each in suffixes if each in self.suffixes), found)
        return found

    def of_server(self, value: str) -> str | None:
        """Return the CDN whose servers send this `Server` value; None if unknown."""
        lower = value.strip().lower()
        exact = self.servers.get(lower)
        begun = (
            cdn
            for mark, cdn in self.servers.items()
            if mark.endswith("*") and lower.startswith(mark[:-1])
        )
        return exact or next(begun, None)


def read_marks(own: Path | None = None) -> Marks:
    """Read the shipped table and the user's lines, which take precedence.

    Raises `ProbeError` naming a line.
    """
    marks = Marks()
    for path in (SHIPPED, *([own] if own else [])):
        source = Source(str(path), CDN_MARKS, ProbeError)
        for number, line in lines_of(path, source, WORD_LINE_BYTES_MAX):
            if not line.strip() or line.lstrip("\ufeff").startswith("#"):
                continue
            kind, value, cdn = _fields(line, f"{path}, line {number}")
            table = marks.suffixes if kind == "cname" else marks.servers
            table[value] = cdn
    return marks


def _fields(line: str, place: str) -> tuple[str, str, str]:
    """Parse a line to kind, value and CDN; further columns are ignored."""
    kind, value, cdn, *_ = (each.strip() for each in (*line.split("\t"), "", ""))
    value = value.lower().strip(".") if kind == "cname" else value.lower()
    if kind not in KINDS or not value.rstrip("*") or not cdn:
        raise ProbeError(
            f"{place}: `{excerpt(line)}` does not identify a CDN: write cname or server, its "
            "value and the CDN's name, separated by tabs"
        )
    return kind, value, cdn


UNKNOWN = "unknown"
GROUP = "addresses of "
"""Prefix of a group's name, followed by its range."""
PREFIX_BITS = {4: 24, 6: 48}
"""Longest prefixes that are commonly routed on the Internet, so that one operator announces
such a group (RIPE Labs, "Visibility of IPv4 and IPv6 Prefix Lengths in 2019").
"""
HOSTS_MIN = 2
"""Minimum number of hosts in a group: with one it would only rename that host."""

_KEY = ["host", "address", "chain"]


def attribute_cdns(
    tables: Sequence[pl.DataFrame], marks: Marks | None = None
) -> list[pl.DataFrame]:
    """Return the tables with `cdn` and `cdn_by` (`cname`, `server`, `address` or `unknown`).

    A row is attributed by its own CNAMEs; else by the `Server` values of the host's responses from
    this address in any of the tables, if they agree; else to the group of its address, if it has
    other unattributed hosts. Tables that have these columns are returned unchanged.
    """
    if all("cdn" in table.columns for table in tables):
        return list(tables)
    chained = [table.with_columns(chain=pl.col("cnames").list.join(" ")) for table in tables]
    rows = pl.concat(chained)
    named = _name_cdn(rows, marks or read_marks())
    answers = pl.DataFrame(
        [(*key, *answer) for key, answer in named.items()],
        schema=dict.fromkeys([*_KEY, "cdn", "cdn_by"], pl.String),
        orient="row",
    )
    return [
        table.join(answers, on=_KEY, how="left", nulls_equal=True, maintain_order="left").drop(
            "chain"
        )
        for table in chained
    ]


Key = tuple[str, str | None, str | None]


def _name_cdn(rows: pl.DataFrame, marks: Marks) -> dict[Key, tuple[str, str]]:
    """Return (CDN, evidence) for each host, address and chain of names."""
    servers = _cdn_by_server(rows, marks)
    named: dict[Key, tuple[str, str]] = {}
    left: list[tuple[Key, str | None]] = []
    hosts_of_group: dict[str, set[str]] = defaultdict(set)
    for host, address, chain in rows.select(_KEY).unique().sort(_KEY).iter_rows():
        key = (host, address, chain)
        if cdn := marks.of_names([host, *(chain or "").split()]):
            named[key] = cdn, "cname"
        elif address and (cdn := servers.get((host, address))):
            named[key] = cdn, "server"
        else:
            group = group_of(address)
            left.append((key, group))
            if group:
                hosts_of_group[group].add(host)
    for key, group in left:
        is_group = group is not None and len(hosts_of_group[group]) >= HOSTS_MIN
        named[key] = (GROUP + str(group), "address") if is_group else (UNKNOWN, UNKNOWN)
    return named


def _cdn_by_server(rows: pl.DataFrame, marks: Marks) -> dict[tuple[str, str], str]:
    """Return the CDN named by a host's responses from an address, if they name exactly one."""
    answers = rows.drop_nulls(["address", "server"]).select("host", "address", "server").unique()
    named: dict[tuple[str, str], set[str]] = defaultdict(set)
    for host, address, server in answers.iter_rows():
        if cdn := marks.of_server(server):
            named[host, address].add(cdn)
    return {place: next(iter(cdns)) for place, cdns in named.items() if len(cdns) == 1}


def group_of(address: str | None) -> str | None:
    """Return the group of an address: `203.0.113.0/24` for IPv4, a /48 for IPv6.

    Returns None for no address.
    """
    try:
        parsed = ipaddress.ip_address(address or "")
    except ValueError:
        return None
    return str(ipaddress.ip_network((parsed, PREFIX_BITS[parsed.version]), strict=False))
