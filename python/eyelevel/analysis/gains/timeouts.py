"""Comparisons with timeouts, analysed as censored at the limit, site by site."""

from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.analysis.gains.cells import Cell
from eyelevel.analysis.stats.censoring.censored import log_rank, restricted_mean_difference
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.stats.hypothesis.difference import DifferenceTest


@dataclass(frozen=True)
class CensoredCell:
    """A comparison with timeouts: the difference of mean times up to the limit, in ms, and a test.

    Neither is corrected for the number of comparisons.
    """

    cell: Cell
    restricted_mean_difference: Estimate
    log_rank: DifferenceTest


def censored_cells(cells: Sequence[Cell]) -> list[CensoredCell]:
    """Analyse each of `cells` as censored, in their order."""
    censored = []
    for cell in cells:
        _, x, r = cell.loads
        difference = restricted_mean_difference(x, r, cell.limit)
        censored.append(CensoredCell(cell, difference, log_rank(x, r, cell.limit)))
    return censored
