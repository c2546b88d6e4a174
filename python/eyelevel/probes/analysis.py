"""From rows to the numbers of the thesis's chapter 4: connection times, differences, DNS times."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelevel.json_types import JsonObject
from eyelevel.probes.intervals import quantile_estimates, share_estimates
from eyelevel.probes.protocols import COMPARISONS, THESIS_NAMES, version_rank
from eyelevel.stats.estimate import SIGNIFICANCE_LEVEL, Estimate, undetermined
from eyelevel.stats.families import holm
from eyelevel.stats.paired import median_estimate

APART_S_MAX = 60.0
"""`Happened in the same minute against the same URL` (the thesis, section 4.2)."""


@dataclass(frozen=True)
class Pairs:
    """Differences A - B in milliseconds, in the order of A's rows, and the host of each."""

    difference_ms: NDArray[np.float64]
    hosts: tuple[str, ...]
    families: tuple[str | None, ...]
    vantages: tuple[str | None, ...]


def pair_rows(table: pl.DataFrame, a: str, b: str) -> Pairs:
    """Each row of `a` in file order with the first row of `b` of the same URL within 60 s.

    `b`'s rows are searched in file order, those of Google's QUIC version by version. A row of `b`
    may serve several of `a`; a row of `a` without a partner is left out. Rows are partners only
    within one vantage point and address family. Failed rows, resumed rows and rows without a
    connection time are never paired.
    """
    usable = table.filter(
        pl.col("failure").is_null() & pl.col("connection_ms").is_not_null() & ~pl.col("resumed")
    )
    candidates = defaultdict(list)
    ranked = usable.filter(pl.col("protocol") == b).to_dicts()
    for row in sorted(ranked, key=lambda row: version_rank(row["version"])):
        candidates[_key(row)].append((row["at_s"], row["connection_ms"]))
    times = {key: np.array(rows, dtype=float) for key, rows in candidates.items()}
    differences, hosts, families, vantages = [], [], [], []
    for row in usable.filter(pl.col("protocol") == a).iter_rows(named=True):
        of_host = times.get(_key(row))
        if of_host is None:
            continue
        near = np.abs(of_host[:, 0] - row["at_s"]) <= APART_S_MAX
        if not near.any():
            continue
        differences.append(row["connection_ms"] - of_host[int(near.argmax()), 1])
        hosts.append(row["host"])
        families.append(row["family"])
        vantages.append(row["vantage"])
    return Pairs(np.array(differences), tuple(hosts), tuple(families), tuple(vantages))


def _key(row: Mapping[str, object]) -> tuple[object, ...]:
    return row["host"], row["family"], row["vantage"], row["file"]


PERCENTS = (1, 5, 10, 25, 50, 75, 90, 95, 99)
BOUNDED_PERCENTS = (50, 90)
"""Those of times that have an interval."""
NO_INTERVAL = "no interval is computed of this percentile"
THRESHOLDS_MS = (0, 5, 10, 20)
ALL = "all"
NO_CLEAR_DIFFERENCE = "no clear difference"


@dataclass(frozen=True)
class Analysis:
    """Tables as lists of rows, each a dictionary with the documented names."""

    pairs: list[JsonObject]
    """One row a file and comparison: quantiles and shares of A - B, the median host, a verdict."""
    groups: list[JsonObject]
    """The same over all files together, by address family and vantage point."""
    times: list[JsonObject]
    """Connection and DNS times by protocol, address family and vantage point."""
    failures: list[JsonObject]
    """How often each protocol failed, by class."""
    differences: dict[tuple[str, str, str], NDArray[np.float64]]
    """(file, a, b) to the differences, for figures."""
    table: pl.DataFrame
    """Every row that was read."""

    def as_json(self) -> JsonObject:
        """The documented shape (docs/reference/probe.md)."""
        return {
            "pairs": self.pairs,
            "groups": self.groups,
            "times": self.times,
            "failures": self.failures,
        }


def analyse(tables: Sequence[pl.DataFrame]) -> Analysis:
    """Everything that the report shows; the same tables give the same numbers."""
    whole = pl.concat(tables)
    rows: list[JsonObject] = []
    differences, paired = {}, []
    for table in tables:
        file = table["file"][0] if table.height else ""
        for a, b in COMPARISONS:
            pairs = pair_rows(table, a, b)
            if pairs.difference_ms.size:
                rows.append({"file": file, "a": a, "b": b} | _differences(pairs))
                differences[file, a, b] = pairs.difference_ms
                paired.append((a, b, pairs))
    corrected = holm([row["median_host_ms"]["p"] for row in rows])
    for row, p in zip(rows, corrected, strict=True):
        row |= {"p_holm": p, "verdict": _verdict(row["median_host_ms"]["value"], p)}
    return Analysis(rows, _groups(paired), _times(whole), _failures(whole), differences, whole)


def _differences(pairs: Pairs) -> JsonObject:
    values, hosts = pairs.difference_ms, pairs.hosts
    names = [f"p{p}_ms" for p in PERCENTS] + [f"share_above_{t}" for t in THRESHOLDS_MS]
    estimates = [
        *quantile_estimates(values, hosts, PERCENTS),
        *share_estimates(values, hosts, THRESHOLDS_MS),
    ]
    row: JsonObject = {"n": int(values.size), "hosts": len(set(hosts))}
    row |= {"median_host_ms": _median_host(pairs).as_json()}
    return row | {name: estimate.as_json() for name, estimate in zip(names, estimates, strict=True)}


def _median_host(pairs: Pairs) -> Estimate:
    """Each host counts once, by the median of its differences: its rows are one site's."""
    by_host = pl.DataFrame({"host": pairs.hosts, "ms": pairs.difference_ms}).group_by("host")
    return median_estimate(by_host.agg(pl.col("ms").median())["ms"].to_numpy(), "hosts")


def _verdict(median_ms: float, p: float | None) -> str:
    if p is None:
        return "undetermined"
    if p > SIGNIFICANCE_LEVEL or median_ms == 0:
        return NO_CLEAR_DIFFERENCE
    return "b faster" if median_ms > 0 else "a faster"


def _groups(paired: Sequence[tuple[str, str, Pairs]]) -> list[JsonObject]:
    """Over all files: everything, then each address family and vantage point."""
    rows = []
    for a, b in COMPARISONS:
        of_pair = [pairs for first, second, pairs in paired if (first, second) == (a, b)]
        if not of_pair:
            continue
        whole = Pairs(
            np.concatenate([pairs.difference_ms for pairs in of_pair]),
            tuple(host for pairs in of_pair for host in pairs.hosts),
            tuple(family for pairs in of_pair for family in pairs.families),
            tuple(vantage for pairs in of_pair for vantage in pairs.vantages),
        )
        families = sorted({family or "unknown" for family in whole.families})
        vantages = sorted({vantage or "unnamed" for vantage in whole.vantages})
        for family in (ALL, *families):
            for vantage in (ALL, *vantages):
                part = _part(whole, family, vantage)
                if part.difference_ms.size:
                    key = {"a": a, "b": b, "family": family, "vantage": vantage}
                    rows.append(key | _differences(part))
    return rows


def _part(pairs: Pairs, family: str, vantage: str) -> Pairs:
    keep = [
        index
        for index, (its_family, its_vantage) in enumerate(
            zip(pairs.families, pairs.vantages, strict=True)
        )
        if family in (ALL, its_family or "unknown") and vantage in (ALL, its_vantage or "unnamed")
    ]
    return Pairs(
        pairs.difference_ms[keep],
        tuple(pairs.hosts[index] for index in keep),
        tuple(pairs.families[index] for index in keep),
        tuple(pairs.vantages[index] for index in keep),
    )


def _times(table: pl.DataFrame) -> list[JsonObject]:
    rows = []
    good = table.filter(pl.col("failure").is_null())
    for what in ("connection_ms", "tcp_ms", "dns_ms"):
        known = good.filter(pl.col(what).is_not_null())
        keys = ["protocol", "family", "vantage", "resumed"]
        for key, part in sorted(known.partition_by(keys, as_dict=True).items(), key=_sortable):
            protocol, family, vantage, resumed = key
            values = part[what].to_numpy()
            quantiles = dict(zip(PERCENTS, np.percentile(values, PERCENTS), strict=True))
            estimates = {p: undetermined(NO_INTERVAL, value=float(v)) for p, v in quantiles.items()}
            with_bounds = quantile_estimates(values, part["host"].to_list(), BOUNDED_PERCENTS)
            estimates |= dict(zip(BOUNDED_PERCENTS, with_bounds, strict=True))
            row: JsonObject = {"what": what, "protocol": protocol, "family": family}
            row |= {"vantage": vantage, "resumed": resumed, "n": part.height}
            row |= {"hosts": part["host"].n_unique()}
            rows.append(row | {f"p{p}_ms": e.as_json() for p, e in estimates.items()})
    return rows


def _sortable(item: tuple[tuple[object, ...], pl.DataFrame]) -> tuple[object, ...]:
    protocol, *rest = item[0]
    names = list(THESIS_NAMES)
    rank = names.index(protocol) if protocol in names else len(names)
    return rank, *(str(part) for part in rest)


def file_labels(files: Iterable[str]) -> dict[str, str]:
    """What files are called beside one another: by name, or by path if names are the same."""
    distinct = list(dict.fromkeys(files))
    names = Counter(Path(file).name for file in distinct)
    return {f: Path(f).name if names[Path(f).name] == 1 else f for f in distinct}


def _failures(table: pl.DataFrame) -> list[JsonObject]:
    # The thesis's files do not say what was split: unknown is not zero.
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
