"""Attribute each row to a CDN: by CNAME, then by the `Server` header, then by address range."""

import ipaddress
from collections import defaultdict
from collections.abc import Sequence

import polars as pl

from eyelevel.probes.cdn.marks import Marks, read_marks

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
    told = _name_cdn(rows, marks or read_marks())
    answers = pl.DataFrame(
        [(*key, *answer) for key, answer in told.items()],
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
    servers = _by_server(rows, marks)
    told: dict[Key, tuple[str, str]] = {}
    left: list[tuple[Key, str | None]] = []
    hosts_of_group: dict[str, set[str]] = defaultdict(set)
    for host, address, chain in rows.select(_KEY).unique().sort(_KEY).iter_rows():
        key = (host, address, chain)
        if cdn := marks.of_names([host, *(chain or "").split()]):
            told[key] = cdn, "cname"
        elif address and (cdn := servers.get((host, address))):
            told[key] = cdn, "server"
        else:
            group = group_of(address)
            left.append((key, group))
            if group:
                hosts_of_group[group].add(host)
    for key, group in left:
        is_group = group is not None and len(hosts_of_group[group]) >= HOSTS_MIN
        told[key] = (GROUP + str(group), "address") if is_group else (UNKNOWN, UNKNOWN)
    return told


def _by_server(rows: pl.DataFrame, marks: Marks) -> dict[tuple[str, str], str]:
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
