"""Select the blocks that are compared (the exclusion rule), and return their values as arrays."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelevel.store.outcomes import CENSORED, OUTCOMES_BY_NAME

Floats = NDArray[np.float64]

Loads = Mapping[str, Mapping[str, Floats]]
"""The values by stack and metric, one per block, in the order of the site's blocks: infinity for a
timeout, not-a-number if the load is left out or has no such metric."""


COMPARED_BY = (
    *("block", "site", "network", "repetition", "stack"),
    *("outcome", "limit_ms", "machine"),
)
"""The columns that, besides the metric, determine which loads are compared and how."""

ALONE = "one without a cluster"
"""The name of a machine whose records name none."""


@dataclass(frozen=True)
class ExcludedBlock:
    """A block with loads that are left out, and why."""

    block: str
    site: str
    network: str
    repetition: int
    reason: str
    failed: bool = True
    """Whether a load failed; otherwise one was not run yet, the loads were on two machines, or the
    whole network is left out."""


@dataclass(frozen=True)
class Blocks:
    """The loads that are compared, and the blocks with loads that are not.

    Two loads of a block are a pair, whatever happened to the block's other loads.
    """

    kept: pl.DataFrame
    excluded: tuple[ExcludedBlock, ...]

    @property
    def whole(self) -> int:
        """The number of blocks whose loads are all compared."""
        blocks = set(self.kept["block"].unique())
        return len(blocks - {each.block for each in self.excluded})


def select_blocks(table: pl.DataFrame, stacks: Collection[str]) -> Blocks:
    """Select the loads that no outcome excludes, of blocks that were loaded on one machine.

    A failure of the instrument removes the load and the pairs that it is part of. This favours no
    stack: a comparison has both loads or neither. A block that was loaded on two machines is left
    out, since its stacks differ in more than themselves. `table` has the columns of
    `eyelevel.analysis.trials.table`.
    """
    excluding = [name for name, outcome in OUTCOMES_BY_NAME.items() if outcome.excludes_load]
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
    split = summary.filter(pl.col("machines").list.len() > 1)["block"].to_list()
    lost = pl.col("outcome").is_in(excluding) | pl.col("block").is_in(split)
    return Blocks(table.filter(~lost), tuple(excluded))


def without_networks(blocks: Blocks, reasons: Mapping[str, str]) -> Blocks:
    """Return the blocks without the networks in `reasons`, whose blocks are then excluded."""
    lost = blocks.kept.filter(pl.col("network").is_in(list(reasons)))
    names = ["block", "site", "network", "repetition"]
    left_out = (
        ExcludedBlock(block, site, network, repetition, reasons[network], failed=False)
        for block, site, network, repetition in lost.select(names).unique().sort(names).iter_rows()
    )
    kept = blocks.kept.filter(~pl.col("network").is_in(list(reasons)))
    return Blocks(kept, (*blocks.excluded, *left_out))


def _reason(
    there: Sequence[str], failed: Sequence[str], stacks: Collection[str], machines: Sequence[str]
) -> str:
    if len(machines) > 1:
        return f"loaded on two machines: {' and '.join(machines)}"
    if failed:
        return ", ".join(sorted(failed))
    return f"not run: {', '.join(sorted(set(stacks) - set(there)))}"


def with_timeouts(metric: str) -> pl.Expr:
    """Return the metric's column: infinite if the page did not finish, null if it has no value."""
    late = pl.col("outcome").is_in(CENSORED)
    return pl.when(late).then(math.inf).otherwise(pl.col(metric)).alias(metric)


def limit_of(metric: str) -> pl.Expr:
    """Return the least value that a timeout stands for: the load's limit, infinity for scores."""
    return (pl.col("limit_ms") if metric.endswith("_ms") else pl.lit(math.inf)).alias(metric)


def up_to_limit(metric: str) -> pl.Expr:
    """Return the metric's column for means: a timeout counts as its limit.

    `eyelevel.analysis.stats.censoring` counts in the same way.
    """
    return with_timeouts(metric).clip(upper_bound=limit_of(metric))


def loads_by_site(
    kept: pl.DataFrame, sites: Collection[tuple[str, str]], metrics: Sequence[str]
) -> dict[tuple[str, str], Loads]:
    """Return the loads of each (network, site) of `sites` with kept blocks (`select_blocks`)."""
    schema = {"network": pl.String, "site": pl.String}
    names = pl.DataFrame(sorted(sites), schema=schema, orient="row")
    rows = (
        kept.join(names, on=["network", "site"], how="semi")
        .sort("network", "site", "stack", "block")
        .select(
            "network",
            "site",
            "stack",
            "block",
            *(with_timeouts(name).fill_null(np.nan) for name in metrics),
        )
    )
    loads: dict[tuple[str, str], Loads] = {}
    for (network, site), part in rows.partition_by(
        "network", "site", as_dict=True, maintain_order=True
    ).items():
        blocks, places = np.unique(part["block"].to_numpy(), return_inverse=True)
        by_stack: dict[str, Mapping[str, Floats]] = {}
        for stack in part["stack"].unique(maintain_order=True):
            own = (part["stack"] == stack).to_numpy()
            values = np.full((len(metrics), len(blocks)), np.nan)
            values[:, places[own]] = (
                part.filter(pl.col("stack") == stack).select(metrics).to_numpy().T
            )
            by_stack[stack] = dict(zip(metrics, values, strict=True))
        loads[str(network), str(site)] = by_stack
    return loads


def loads_by_repetition(
    kept: pl.DataFrame, network: str, stack: str, metric: str, sites: Sequence[str]
) -> Floats:
    """Return sites x repetitions of the kept loads; not-a-number for none, infinity for a timeout.

    Every stack has a column for each repetition that any stack has, so that pairs are aligned.
    """
    here = kept.filter(pl.col("network") == network, pl.col("site").is_in(sites))
    own = here.filter(pl.col("stack") == stack)
    rows = own.select("site", "repetition", with_timeouts(metric)).rows()
    places = {name: place for place, name in enumerate(here["repetition"].unique().sort())}
    loads = np.full((len(sites), len(places)), np.nan)
    for site, repetition, value in rows:
        loads[sites.index(site), places[repetition]] = np.nan if value is None else value
    return loads


def limits_by_site(
    kept: pl.DataFrame, network: str, metric: str, sites: Sequence[str]
) -> list[float]:
    """Return the least value that a timeout stands for, by site; infinite without loads."""
    of_network = kept.filter(pl.col("network") == network).group_by("site")
    limits = dict(of_network.agg(limit_of(metric).max()).rows())
    return [limits.get(site, math.inf) for site in sites]


def drop_incomplete(values: Floats, reference: Floats) -> tuple[Floats, Floats]:
    """Return both arrays without the blocks in which one of them has no value."""
    there = ~(np.isnan(values) | np.isnan(reference))
    return values[there], reference[there]
