"""Attribute each row to a CDN: by CNAME, else by the answer's `Server`, else to a group of
addresses."""

import ipaddress
from collections import defaultdict
from collections.abc import Sequence

import polars as pl

from eyelevel.probes.cdn.marks import Marks, read_marks

UNKNOWN = "unknown"
GROUP = "addresses of "
"""The prefix of a group's name, followed by its range."""
PREFIX_BITS = {4: 24, 6: 48}
"""The longest prefixes that the Internet's routing commonly takes, so that one operator announces
such a group (RIPE Labs, "Visibility of IPv4 and IPv6 Prefix Lengths in 2019")."""
HOSTS_MIN = 2
"""A group of one host would be that host under another name."""

_KEY = ["host", "address", "chain"]


def attribute_cdns(
    tables: Sequence[pl.DataFrame], marks: Marks | None = None
) -> list[pl.DataFrame]:
    """Return the tables with `cdn` and `cdn_by` (`cname`, `server`, `address` or `unknown`).

    A row's CDN is told by its own CNAMEs; else by what the host's answers from this address in any
    of the tables name as `Server`, if they agree; else it is of the group of addresses that its
    address lies in, if other untold hosts do, too. Tables that have the columns stay as they are.
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
    """Return the CDN, and the evidence for it, of each host, address and chain of names."""
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
    """Return the CDN that a host's answers from an address name; none where they name several."""
    answers = rows.drop_nulls(["address", "server"]).select("host", "address", "server").unique()
    named: dict[tuple[str, str], set[str]] = defaultdict(set)
    for host, address, server in answers.iter_rows():
        if cdn := marks.of_server(server):
            named[host, address].add(cdn)
    return {place: next(iter(cdns)) for place, cdns in named.items() if len(cdns) == 1}


def group_of(address: str | None) -> str | None:
    """Return the group of an address: `203.0.113.0/24` for IPv4, a /48 for IPv6; None without an
    address."""
    try:
        parsed = ipaddress.ip_address(address or "")
    except ValueError:
        return None
    return str(ipaddress.ip_network((parsed, PREFIX_BITS[parsed.version]), strict=False))
