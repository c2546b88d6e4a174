"""Pair rows by the rule of the thesis, section 4.2."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelevel.base.json_types import JsonMapping
from eyelevel.probes.protocols import version_rank

ALIKE = ("host", "family", "vantage", "file")
"""Columns in which partners agree."""
APART_S_MAX = 60.0
"""Maximum time between partners: "happened in the same minute against the same URL" (the
thesis, section 4.2).
"""


@dataclass(frozen=True)
class Pairs:
    """Differences A - B in milliseconds, in the order of A's rows, with the host of each."""

    difference_ms: NDArray[np.float64]
    hosts: tuple[str, ...]
    families: tuple[str | None, ...]
    vantages: tuple[str | None, ...]
    cdns: tuple[str | None, ...]
    """CDNs of A's rows; None if none was attributed."""

    def part(self, keep: Sequence[int]) -> Self:
        """Return the pairs at these indexes."""
        return type(self)(
            self.difference_ms[keep],
            tuple(self.hosts[index] for index in keep),
            tuple(self.families[index] for index in keep),
            tuple(self.vantages[index] for index in keep),
            tuple(self.cdns[index] for index in keep),
        )

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return all parts, of which there is at least one, as one."""
        return cls(
            np.concatenate([each.difference_ms for each in parts]),
            tuple(host for each in parts for host in each.hosts),
            tuple(family for each in parts for family in each.families),
            tuple(vantage for each in parts for vantage in each.vantages),
            tuple(cdn for each in parts for cdn in each.cdns),
        )


def pair_rows(table: pl.DataFrame, a: str, b: str, alike: Sequence[str] = ALIKE) -> Pairs:
    """Pair each row of `a` in file order with the first row of `b` of the same URL within 60 s.

    `b`'s rows are searched in file order, those of Google's QUIC version by version. A row of `b`
    may be the partner of several of `a`; a row of `a` without a partner is left out. Partners agree
    in the columns `alike`, by default vantage point and address family. Failed rows, resumed rows
    and rows without a connection time are never paired.
    """
    usable = table.filter(
        pl.col("failure").is_null() & pl.col("connection_ms").is_not_null() & ~pl.col("resumed")
    )
    of_a, of_b = (usable.filter(pl.col("protocol") == protocol) for protocol in (a, b))

    def key(row: JsonMapping) -> tuple[object, ...]:
        return tuple(row[name] for name in alike)

    return pair_within(of_a, of_b, "connection_ms", key)


def pair_within(
    of_a: pl.DataFrame,
    of_b: pl.DataFrame,
    what: str,
    key: Callable[[JsonMapping], Hashable],
    *,
    nearest: bool = False,
) -> Pairs:
    """Pair each row of A in order with the first row of B of the same `key` at most 60 s apart.

    With `nearest`, with the row of B that is nearest in time.
    """
    candidates = defaultdict(list)
    for row in sorted(of_b.to_dicts(), key=lambda row: version_rank(row["version"])):
        candidates[key(row)].append((row["at_s"], row[what]))
    times = {each: np.array(rows, dtype=float) for each, rows in candidates.items()}
    differences, hosts, families, vantages, cdns = [], [], [], [], []
    for row in of_a.iter_rows(named=True):
        of_host = times.get(key(row))
        if of_host is None:
            continue
        apart_s = np.abs(of_host[:, 0] - row["at_s"])
        near = apart_s <= APART_S_MAX
        if not near.any():
            continue
        partner = int(apart_s.argmin() if nearest else near.argmax())
        differences.append(row[what] - of_host[partner, 1])
        hosts.append(row["host"])
        families.append(row["family"])
        vantages.append(row["vantage"])
        cdns.append(row.get("cdn"))
    return Pairs(
        np.array(differences, dtype=float),
        tuple(hosts),
        tuple(families),
        tuple(vantages),
        tuple(cdns),
    )
