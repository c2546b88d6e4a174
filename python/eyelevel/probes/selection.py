"""Only some hosts: those named, or those that connected over every protocol named."""

from collections.abc import Sequence

import polars as pl

from eyelevel.errors import ProbeError
from eyelevel.from_outside.words import quoted


def only_hosts(tables: Sequence[pl.DataFrame], hosts: Sequence[str]) -> list[pl.DataFrame]:
    """The rows of these hosts. Raises ProbeError if a host has no row in any table."""
    there = {host for table in tables for host in table["host"].str.to_lowercase().unique()}
    wanted = [host.strip().lower().removesuffix(".") for host in hosts]
    for host in wanted:
        if host not in there:
            raise ProbeError(f"--host {quoted(host)}: no file has a row of it; name it as they do")
    return [table.filter(pl.col("host").str.to_lowercase().is_in(wanted)) for table in tables]


def only_connected_by(
    tables: Sequence[pl.DataFrame], protocols: Sequence[str]
) -> list[pl.DataFrame]:
    """All rows of the hosts that connected over each of `protocols`, table by table.

    One attempt that did not fail and has a connection time is enough. Raises ProbeError if there
    is no such host in any table.
    """
    kept = [table.filter(pl.col("host").is_in(_connected(table, protocols))) for table in tables]
    if not any(table.height for table in kept):
        listed = ",".join(protocols)
        raise ProbeError(
            f"--connected-by {listed}: in no file has a host connected over all of them; name fewer"
        )
    return kept


def _connected(table: pl.DataFrame, protocols: Sequence[str]) -> list[str]:
    good = table.filter(pl.col("failure").is_null() & pl.col("connection_ms").is_not_null())
    of_protocols = good.filter(pl.col("protocol").is_in(list(protocols)))
    counted = of_protocols.group_by("host").agg(pl.col("protocol").n_unique())
    return counted.filter(pl.col("protocol") == len(set(protocols)))["host"].to_list()
