"""The comparisons in which loads timed out, with the timeouts as values censored at the limit."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from eyelevel.analysis.gains.cells import Cell
from eyelevel.analysis.trials.blocks import loads_by_site, paired
from eyelevel.stats.censored import log_rank, restricted_mean_difference
from eyelevel.stats.estimate import Estimate
from eyelevel.stats.hypothesis.difference import DifferenceTest


@dataclass(frozen=True)
class CensoredCell:
    """A comparison with timeouts: the difference of mean times up to the limit, in ms, and a test.

    Neither is corrected for the number of comparisons.
    """

    cell: Cell
    restricted_mean_difference: Estimate
    log_rank: DifferenceTest


def censored_cells(
    kept: pl.DataFrame, cells: Sequence[Cell], reference: str, limit_ms: float
) -> list[CensoredCell]:
    """Both of each of `cells`, in their order, from the kept blocks (`select_blocks`)."""
    sites = {(cell.network, cell.site) for cell in cells}
    metrics = list(dict.fromkeys(cell.metric for cell in cells))
    loads = loads_by_site(kept, sites, metrics)
    censored = []
    for cell in cells:
        by_stack = loads[cell.network, cell.site]
        x, r = paired(by_stack[cell.stack][cell.metric], by_stack[reference][cell.metric])
        difference = restricted_mean_difference(x, r, limit_ms)
        censored.append(CensoredCell(cell, difference, log_rank(x, r, limit_ms)))
    return censored
