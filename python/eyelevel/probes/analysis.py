"""Compute the tables of the thesis's chapter 4: datasets, times, differences, failures."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelevel.base.json_types import JsonObject
from eyelevel.probes.cdn.attribution import attribute_cdns
from eyelevel.probes.cdn.summary import ByCdn, by_cdn
from eyelevel.probes.conditions import conditions_of
from eyelevel.probes.datasets import datasets_of
from eyelevel.probes.differences import differences_of, judge
from eyelevel.probes.pairing import Pairs, pair_rows
from eyelevel.probes.protocols import COMPARISONS
from eyelevel.probes.times import times_of

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
