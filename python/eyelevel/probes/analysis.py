"""Compute the tables of the thesis's chapter 4: datasets, times, differences, failures.

Compare pairs of conditions instead of protocols: address families, resumption, 0-RTT.

One host is compared with itself over one protocol from one vantage point, within a file and across
files: a run with `--resume-session` has full and resumed handshakes, one with `-4 -6` both
families. Rows without a vantage point are paired within their file only, since two unnamed vantage
points may differ.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelevel.base.json_types import JsonObject
from eyelevel.probes.cdn import ByCdn, attribute_cdns, by_cdn
from eyelevel.probes.differences import differences_of, empty_summary, judge, times_of
from eyelevel.probes.pairing import APART_S_MAX, Pairs, pair_rows, pair_within
from eyelevel.probes.protocols import COMPARISONS, THESIS_NAMES
from eyelevel.probes.reading import datasets_of

ALL = "all"


@dataclass(frozen=True)
class Analysis:
    """Tables as lists of rows, each a dictionary with the documented keys."""

    datasets: list[JsonObject]
    """One row per file: samples, dates, vantage points, families, hosts, failures."""
    pairs: list[JsonObject]
    """One row per file and comparison: quantiles and shares of A - B, the median host, a
    verdict.
    """
    conditions: list[JsonObject]
    """One row per comparison (v4 - v6, full - resumed, 0-RTT), protocol and vantage point."""
    groups: list[JsonObject]
    """Paired differences over all files together, by address family and vantage point."""
    times: list[JsonObject]
    """Connection and DNS times by file, protocol, address family and vantage point."""
    failures: list[JsonObject]
    """Number of failures per protocol and class."""
    by_cdn: ByCdn
    """Hosts grouped by the CDN that served them."""
    differences: dict[tuple[str, str, str], NDArray[np.float64]]
    """Differences by (file, a, b), for figures."""
    table: pl.DataFrame
    """All rows."""

    def as_json(self) -> JsonObject:
        """Return the tables as documented in docs/reference/probe.md."""
        return {
            "datasets": self.datasets,
            "pairs": self.pairs,
            "conditions": self.conditions,
            "groups": self.groups,
            "times": self.times,
            "failures": self.failures,
            **self.by_cdn.as_json(),
        }


def analyse(tables: Sequence[pl.DataFrame]) -> Analysis:
    """Compute everything that the report shows; equal tables give equal results."""
    tables = attribute_cdns(tables)
    whole = pl.concat(tables)
    rows: list[JsonObject] = []
    differences, paired = {}, []
    for table in tables:
        file = table["file"][0] if table.height else ""
        for a, b in COMPARISONS:
            pairs = pair_rows(table, a, b)
            if pairs.difference_ms.size:
                rows.append({"file": file, "a": a, "b": b} | differences_of(pairs))
                differences[file, a, b] = pairs.difference_ms
                paired.append((a, b, pairs))
    conditions = conditions_of(whole)
    judge(rows + conditions)
    return Analysis(
        datasets_of(tables),
        rows,
        conditions,
        _groups(paired),
        times_of(whole),
        _failures(whole),
        by_cdn(tables),
        differences,
        whole,
    )


def _groups(paired: Sequence[tuple[str, str, Pairs]]) -> list[JsonObject]:
    """Return differences over all files: of all rows, then by address family and vantage point."""
    rows = []
    for a, b in COMPARISONS:
        of_pair = [pairs for first, second, pairs in paired if (first, second) == (a, b)]
        if not of_pair:
            continue
        whole = Pairs.concatenate(of_pair)
        families = sorted({family or "unknown" for family in whole.families})
        vantages = sorted({vantage or "unnamed" for vantage in whole.vantages})
        for family in (ALL, *families):
            for vantage in (ALL, *vantages):
                part = _part(whole, family, vantage)
                if part.difference_ms.size:
                    key = {"a": a, "b": b, "family": family, "vantage": vantage}
                    rows.append(key | differences_of(part))
    return rows


def _part(pairs: Pairs, family: str, vantage: str) -> Pairs:
    keep = [
        index
        for index, (its_family, its_vantage) in enumerate(
            zip(pairs.families, pairs.vantages, strict=True)
        )
        if family in (ALL, its_family or "unknown") and vantage in (ALL, its_vantage or "unnamed")
    ]
    return pairs.part(keep)


def file_labels(files: Iterable[str]) -> dict[str, str]:
    """Return labels of files for one table: the name, or the path if names are equal."""
    distinct = list(dict.fromkeys(files))
    names = Counter(Path(file).name for file in distinct)
    return {f: Path(f).name if names[Path(f).name] == 1 else f for f in distinct}


def _failures(table: pl.DataFrame) -> list[JsonObject]:
    # The thesis's files do not record splitting: unknown, not 0.
    split = pl.when(pl.col("split").is_not_null().any()).then(pl.col("split").sum())
    counted = table.group_by("protocol").agg(
        pl.len().alias("attempts"), split.alias("split_connections")
    )
    by_class = table.filter(pl.col("failure").is_not_null()).group_by("protocol", "failure").len()
    rows = []
    for row in counted.sort("protocol").iter_rows(named=True):
        of_protocol = by_class.filter(pl.col("protocol") == row["protocol"]).sort("failure")
        classes = {kind["failure"]: kind["len"] for kind in of_protocol.iter_rows(named=True)}
        rows.append(row | {"failed": sum(classes.values()), "classes": classes})
    return rows


FULL = ~(
    pl.col("resumed")
    | pl.col("resumption_offered")
    | pl.col("early_data_offered")
    | pl.col("early_data_accepted")
)
"""Full handshakes: no session was offered, so they could not have been shorter."""
RESUMED = pl.col("resumed") & ~pl.col("early_data_offered") & ~pl.col("early_data_accepted")
"""Resumed handshakes. Rejected early data costs time, so such rows are neither these nor 0-RTT."""
ZERO_RTT = pl.col("early_data_accepted")


@dataclass(frozen=True)
class Comparison:
    """Conditions A and B, the column of which A - B is taken, and the columns to match."""

    a: str
    b: str
    what: str
    rows_a: pl.Expr
    rows_b: pl.Expr
    alike: tuple[str, ...]


_PLACE = ("host", "protocol", "vantage")
CONDITIONS = (
    Comparison(
        "v4",
        "v6",
        "connection_ms",
        FULL & (pl.col("family") == "v4"),
        FULL & (pl.col("family") == "v6"),
        (*_PLACE, "version"),
    ),
    Comparison("full", "resumed", "connection_ms", FULL, RESUMED, (*_PLACE, "family")),
    Comparison("full", "0-RTT", "first_byte_ms", FULL, ZERO_RTT, (*_PLACE, "family")),
    Comparison("resumed", "0-RTT", "first_byte_ms", RESUMED, ZERO_RTT, (*_PLACE, "family")),
)
"""Pairs of conditions; a difference is positive if B took less time. 0-RTT shows in the time to
the first byte, not in the connection time.
"""


def conditions_of(table: pl.DataFrame) -> list[JsonObject]:
    """Return one row per comparison, protocol and vantage point with rows of both conditions.

    Each row of A is paired with the row of B nearest in time, at most 60 s apart; failed rows are
    left out. In a run with `--resume-session` that is the second of a pair, or the one before.
    """
    rows = []
    for comparison in CONDITIONS:
        usable = table.filter(
            pl.col("failure").is_null() & pl.col(comparison.what).is_not_null()
        ).with_columns(place=pl.coalesce("vantage", "file"))
        of_a, of_b = usable.filter(comparison.rows_a), usable.filter(comparison.rows_b)
        keys = sorted({*_keys(of_a)} & {*_keys(of_b)}, key=_rank)
        for protocol, vantage in keys:
            same = (pl.col("protocol") == protocol) & pl.col("vantage").eq_missing(
                pl.lit(vantage, pl.String)
            )
            row = _compare(of_a.filter(same), of_b.filter(same), comparison)
            rows.append({"protocol": protocol, "vantage": vantage} | row)
    return rows


def _keys(table: pl.DataFrame) -> Sequence[tuple[str, str | None]]:
    return [(p, v) for p, v in table.select("protocol", "vantage").unique().iter_rows()]


def _rank(key: tuple[str, str | None]) -> tuple[object, ...]:
    protocol, vantage = key
    names = list(THESIS_NAMES)
    return names.index(protocol) if protocol in names else len(names), protocol, vantage or ""


def _compare(of_a: pl.DataFrame, of_b: pl.DataFrame, comparison: Comparison) -> JsonObject:
    def key(row: Mapping[str, object]) -> tuple[object, ...]:
        return (row["place"], *(row[name] for name in comparison.alike))

    hosts_a, hosts_b = set(of_a["host"]), set(of_b["host"])
    row: JsonObject = {
        "a": comparison.a,
        "b": comparison.b,
        "what": comparison.what,
        "hosts_both": len(hosts_a & hosts_b),
        "hosts_a_alone": len(hosts_a - hosts_b),
        "hosts_b_alone": len(hosts_b - hosts_a),
    }
    pairs = pair_within(of_a, of_b, comparison.what, key, nearest=True)
    if not pairs.difference_ms.size:
        reason = f"no pairs at most {APART_S_MAX:.0f} s apart"
        return row | empty_summary(reason) | {"by_host": []}
    by_host = pl.DataFrame({"host": pairs.hosts, "ms": pairs.difference_ms}).group_by("host")
    medians = by_host.agg(n=pl.len(), median_ms=pl.col("ms").median()).sort("host")
    return row | differences_of(pairs) | {"by_host": medians.to_dicts()}
