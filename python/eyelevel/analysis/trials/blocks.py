"""Which blocks enter the comparison: the exclusion rule."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import polars as pl

from eyelevel.store.outcomes import OUTCOMES_BY_NAME


@dataclass(frozen=True)
class ExcludedBlock:
    """A block that is left out, with all its stacks, and why."""

    block: str
    site: str
    network: str
    repetition: int
    reason: str


@dataclass(frozen=True)
class Blocks:
    """The trials of the blocks that are compared, and the blocks that are not."""

    kept: pl.DataFrame
    excluded: tuple[ExcludedBlock, ...]


def select_blocks(table: pl.DataFrame, stacks: Collection[str]) -> Blocks:
    """Keep the blocks in which every stack has one trial and no outcome excludes the block.

    A failure of the instrument in one load excludes the loads of all stacks of its site, network
    and repetition, so that no stack is favoured by whose load failed; so does a load that was not
    run yet. `table` has the columns of `eyelevel.analysis.trials.table`.
    """
    excluding = [name for name, outcome in OUTCOMES_BY_NAME.items() if outcome.excludes_block]
    summary = (
        table.group_by("block", "site", "network", "repetition", maintain_order=True)
        .agg(
            pl.col("stack"),
            pl.concat_str("stack", pl.lit(": "), "outcome")
            .filter(pl.col("outcome").is_in(excluding))
            .alias("failed"),
        )
        .sort("network", "site", "repetition")
    )
    excluded = []
    for row in summary.iter_rows(named=True):
        reason = _reason(row["stack"], row["failed"], stacks)
        if reason:
            key = (row["block"], row["site"], row["network"], row["repetition"])
            excluded.append(ExcludedBlock(*key, reason))
    names = [each.block for each in excluded]
    return Blocks(table.filter(~pl.col("block").is_in(names)), tuple(excluded))


def _reason(found: Sequence[str], failed: Sequence[str], stacks: Collection[str]) -> str:
    if failed:
        return ", ".join(sorted(failed))
    if absent := sorted(set(stacks) - set(found)):
        return f"not run: {', '.join(absent)}"
    return ""
