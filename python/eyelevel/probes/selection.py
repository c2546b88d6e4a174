"""Select rows by host, by CDN, or by the protocols over which the host connected."""

from collections.abc import Sequence

import polars as pl

from eyelevel.base.errors import ProbeError
from eyelevel.base.from_outside.host_names import spell_in_dns
from eyelevel.base.from_outside.words import excerpt
from eyelevel.probes.cdn import GROUP


def select_hosts(tables: Sequence[pl.DataFrame], hosts: Sequence[str]) -> list[pl.DataFrame]:
    """Return the rows of these hosts. Raises `ProbeError` if a host has no row in any table."""
    there = {host for table in tables for host in table["host"].str.to_lowercase().unique()}
    wanted = [spell_in_dns(host.strip()).lower().removesuffix(".") for host in hosts]
    for host in wanted:
        if host not in there:
            raise ProbeError(
                f"--host {excerpt(host)}: no file has a row for it; write it as the files do"
            )
    return [table.filter(pl.col("host").str.to_lowercase().is_in(wanted)) for table in tables]


CDNS_NAMED = 8
"""Maximum number of CDNs named in a message."""


def only_cdns(tables: Sequence[pl.DataFrame], cdns: Sequence[str]) -> list[pl.DataFrame]:
    """Return the rows served by these CDNs, of attributed tables (`attribute_cdns`).

    A group of addresses may be given by its range only. Raises `ProbeError` if a CDN has no row in
    any table.
    """
    names = pl.concat(table.select("cdn") for table in tables)["cdn"].value_counts(sort=True)["cdn"]
    there = {name.lower() for name in names}
    wanted = []
    for cdn in cdns:
        lower = cdn.strip().lower()
        found = next((each for each in (lower, GROUP + lower) if each in there), None)
        if found is None:
            named = ", ".join(names.head(CDNS_NAMED))
            raise ProbeError(
                f"--cdn {excerpt(cdn)}: no row is of this CDN; name one of {excerpt(named)}"
            )
        wanted.append(found)
    return [table.filter(pl.col("cdn").str.to_lowercase().is_in(wanted)) for table in tables]


def select_connected_by(
    tables: Sequence[pl.DataFrame], protocols: Sequence[str]
) -> list[pl.DataFrame]:
    """Return all rows of the hosts that connected over each of `protocols`, per table.

    One successful attempt with a connection time is enough. Raises `ProbeError` if there is no such
    host in any table.
    """
    kept = [
        table.filter(pl.col("host").is_in(_find_connected(table, protocols))) for table in tables
    ]
    if not any(table.height for table in kept):
        listed = ",".join(protocols)
        raise ProbeError(
            f"--connected-by {listed}: no host in any file connected over all of them; name fewer"
        )
    return kept


def _find_connected(table: pl.DataFrame, protocols: Sequence[str]) -> list[str]:
    good = table.filter(pl.col("failure").is_null() & pl.col("connection_ms").is_not_null())
    of_protocols = good.filter(pl.col("protocol").is_in(list(protocols)))
    counted = of_protocols.group_by("host").agg(pl.col("protocol").n_unique())
    return counted.filter(pl.col("protocol") == len(set(protocols)))["host"].to_list()
