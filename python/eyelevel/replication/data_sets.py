"""Estimate a text's claims again from its author's own data sets, over hosts."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from eyelevel.analysis.stats.estimate import CONFIDENCE, Estimate, undetermined
from eyelevel.probes.intervals import quantile_estimates, share_estimates
from eyelevel.probes.pairing import Pairs, pair_rows
from eyelevel.probes.reading import read_file
from eyelevel.replication.claims import Claim, Row

SUFFIX = ".csv"


@dataclass(frozen=True)
class DataSets:
    """The data sets in a folder, by the name of the file without its suffix."""

    folder: Path | None

    def has(self, name: str) -> bool:
        """Return whether the folder has a data set."""
        return self.folder is not None and self._path(name).is_file()

    def estimate(
        self, claim: Claim, row: Row, confidence: float = CONFIDENCE
    ) -> tuple[Estimate, int]:
        """Return the estimate of a claim's row over hosts, and the pairs or rows that it is of.

        Raises `ProbeError` for a damaged data set.
        """
        table = self._table(row.network)
        if claim.estimator == "row_count":
            count = table.height
            return Estimate(count, count, count, n=count), count
        if claim.estimator == "median_dns_ms":
            return _estimate_dns(table, row.stacks[0], confidence)
        pairs = self.pairs(row.network, *row.stacks)
        if not pairs.hosts:
            return undetermined(f"{row.network} has no pairs of {row.comparison}"), 0
        sooner_ms, of = -pairs.difference_ms, len(pairs.hosts)
        if claim.estimator == "quantile_ms":
            assert claim.percent is not None
            quantiles = [claim.percent]
            (found,) = quantile_estimates(sooner_ms, pairs.hosts, quantiles, confidence=confidence)
        else:
            # The least difference itself counts; without one, equal times are not faster.
            least_ms = np.nextafter(claim.least_ms, -np.inf) if claim.least_ms else 0.0
            (found,) = share_estimates(sooner_ms, pairs.hosts, [least_ms], confidence=confidence)
        return replace(found, n=len(set(pairs.hosts))), of

    def pairs(self, name: str, stack: str, reference: str) -> Pairs:
        """Return the pairs of two protocols in a data set. Raises `ProbeError` if it is damaged."""
        key = name, stack, reference
        if key not in self._pairs_by_name:
            self._pairs_by_name[key] = pair_rows(self._table(name), stack, reference)
        return self._pairs_by_name[key]

    def _path(self, name: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{name}{SUFFIX}"

    @cached_property
    def _tables(self) -> dict[str, pl.DataFrame]:
        return {}

    @cached_property
    def _pairs_by_name(self) -> dict[tuple[str, str, str], Pairs]:
        return {}

    def _table(self, name: str) -> pl.DataFrame:
        if name not in self._tables:
            self._tables[name] = read_file(self._path(name))
        return self._tables[name]


def _estimate_dns(table: pl.DataFrame, protocol: str, confidence: float) -> tuple[Estimate, int]:
    good = table.filter(
        pl.col("failure").is_null() & pl.col("dns_ms").is_not_null(), protocol=protocol
    )
    if not good.height:
        return undetermined(f"it has no DNS times of {protocol}"), 0
    values, hosts = good["dns_ms"].to_numpy(), good["host"].to_list()
    (found,) = quantile_estimates(values, hosts, [50.0], confidence=confidence)
    return replace(found, n=len(set(hosts))), good.height
