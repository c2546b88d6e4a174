"""Summarise probes by CDN: hosts served, connections, times, and differences."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from eyelevel.analysis.stats.binomial import wilson_estimate
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.probes.cdn.attribution import UNKNOWN
from eyelevel.probes.differences import differences_of, judge
from eyelevel.probes.intervals import quantile_estimates
from eyelevel.probes.pairing import ALIKE, Pairs, pair_rows
from eyelevel.probes.protocols import COMPARISONS, THESIS_NAMES
from eyelevel.probes.times import in_protocols_order

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
    told = {title: count for title, count in counts.items() if count}
    if len(told) == 1:
        return next(iter(told))
    return ", ".join(f"{title} {count}" for title, count in told.items()) or "nothing"


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
