"""Which blocks enter the comparison (the exclusion rule), and their loads' values as arrays."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelevel.store.outcomes import OUTCOMES_BY_NAME

Floats = NDArray[np.float64]

Loads = Mapping[str, Mapping[str, Floats]]
"""One value a block by stack and metric, in the blocks' order: infinity for a timeout, not-a-number
if a load has no such metric."""


COMPARED_BY = (
    *("block", "site", "network", "repetition", "stack"),
    *("outcome", "limit_ms", "machine"),
)
"""The columns that say, beside a metric, which loads are compared and how."""

ALONE = "one without a cluster"
"""What a machine is called that no record names."""


@dataclass(frozen=True)
class ExcludedBlock:
    """A block that is left out, with all its stacks, and why."""

    block: str
    site: str
    network: str
    repetition: int
    reason: str
    failed: bool = True
    """Whether a load failed; else one was not run yet, or they were on two machines."""


@dataclass(frozen=True)
class Blocks:
    """The trials of the blocks that are compared, and the blocks that are not."""

    kept: pl.DataFrame
    excluded: tuple[ExcludedBlock, ...]


def select_blocks(table: pl.DataFrame, stacks: Collection[str]) -> Blocks:
    """Keep the blocks in which every stack has one trial and no outcome excludes the block.

    A failure of the instrument in one load excludes the loads of all stacks of its site, network
    and repetition, so that no stack is favoured by whose load failed; so does a load that was not
    run yet. A block that was loaded on two machines is left out, too: its stacks differ in more
    than themselves. `table` has the columns of `eyelevel.analysis.trials.table`.
    """
    excluding = [name for name, outcome in OUTCOMES_BY_NAME.items() if outcome.excludes_block]
    summary = (
        table.group_by("block", "site", "network", "repetition", maintain_order=True)
        .agg(
            pl.col("stack"),
            pl.concat_str("stack", pl.lit(": "), "outcome")
            .filter(pl.col("outcome").is_in(excluding))
            .alias("failed"),
            pl.col("machine").fill_null(ALONE).unique().sort().alias("machines"),
        )
        .filter(
            (pl.col("failed").list.len() > 0)
            | (pl.col("machines").list.len() > 1)
            | (pl.col("stack").list.set_intersection(list(stacks)).list.len() < len(set(stacks)))
        )
        .sort("network", "site", "repetition")
    )
    excluded = []
    for row in summary.iter_rows(named=True):
        reason = _reason(row["stack"], row["failed"], stacks, row["machines"])
        key = (row["block"], row["site"], row["network"], row["repetition"])
        excluded.append(ExcludedBlock(*key, reason, bool(row["failed"])))
    names = [block.block for block in excluded]
    return Blocks(table.filter(~pl.col("block").is_in(names)), tuple(excluded))


def _reason(
    there: Sequence[str], failed: Sequence[str], stacks: Collection[str], machines: Sequence[str]
) -> str:
    if failed:
        return ", ".join(sorted(failed))
    if absent := sorted(set(stacks) - set(there)):
        return f"not run: {', '.join(absent)}"
    return f"loaded on two machines: {' and '.join(machines)}"


def with_timeouts(metric: str) -> pl.Expr:
    """The metric's column: infinite if the load timed out, null if it has no such metric."""
    late = pl.col("outcome") == "timeout"
    return pl.when(late).then(math.inf).otherwise(pl.col(metric)).alias(metric)


def limit_of(metric: str) -> pl.Expr:
    """What a timeout is at least, by the metric: the load's limit; infinite if it is no time."""
    return (pl.col("limit_ms") if metric.endswith("_ms") else pl.lit(math.inf)).alias(metric)


def up_to_limit(metric: str) -> pl.Expr:
    """The metric's column for a mean: a timeout counts as its limit, as in
    `eyelevel.stats.late.timeouts`."""
    return with_timeouts(metric).clip(upper_bound=limit_of(metric))


def loads_by_site(
    kept: pl.DataFrame, sites: Collection[tuple[str, str]], metrics: Sequence[str]
) -> dict[tuple[str, str], Loads]:
    """The loads of each (network, site) of `sites` that has kept blocks (`select_blocks`)."""
    schema = {"network": pl.String, "site": pl.String}
    names = pl.DataFrame(sorted(sites), schema=schema, orient="row")
    rows = (
        kept.join(names, on=["network", "site"], how="semi")
        .sort("network", "site", "stack", "block")
        .select(
            "network",
            "site",
            "stack",
            *(with_timeouts(name).fill_null(np.nan) for name in metrics),
        )
    )
    loads: dict[tuple[str, str], dict[str, Mapping[str, Floats]]] = {}
    for (network, site, stack), part in rows.partition_by(
        "network", "site", "stack", as_dict=True, maintain_order=True
    ).items():
        values = {name: part[name].to_numpy() for name in metrics}
        loads.setdefault((str(network), str(site)), {})[str(stack)] = values
    return dict(loads)


def loads_by_repetition(
    kept: pl.DataFrame, network: str, stack: str, metric: str, sites: Sequence[str]
) -> Floats:
    """Sites x repetitions of the kept blocks; not-a-number for none, infinity for a timeout.

    Two stacks have the same repetitions, since a kept block has loads of all.
    """
    own = kept.filter(
        pl.col("network") == network, pl.col("stack") == stack, pl.col("site").is_in(sites)
    )
    rows = own.select("site", "repetition", with_timeouts(metric)).rows()
    places = {name: place for place, name in enumerate(sorted({row[1] for row in rows}))}
    loads = np.full((len(sites), len(places)), np.nan)
    for site, repetition, value in rows:
        loads[sites.index(site), places[repetition]] = np.nan if value is None else value
    return loads


def limits_by_site(
    kept: pl.DataFrame, network: str, metric: str, sites: Sequence[str]
) -> list[float]:
    """What a timeout is at least, by site; infinite for a site without loads."""
    of_network = kept.filter(pl.col("network") == network).group_by("site")
    limits = dict(of_network.agg(limit_of(metric).max()).rows())
    return [limits.get(site, math.inf) for site in sites]


def paired(values: Floats, reference: Floats) -> tuple[Floats, Floats]:
    """Both without the blocks in which one of them has no value."""
    there = ~(np.isnan(values) | np.isnan(reference))
    return values[there], reference[there]
