"""If loads timed out: differences of the mean times up to the limit over sites, and each site's
comparison with the timeouts as values censored at the limit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from eyelevel.analysis.gains.cells import Cell
from eyelevel.analysis.trials.blocks import loads_by_site, paired
from eyelevel.stats.censored import log_rank, restricted_mean_difference
from eyelevel.stats.estimate import CONFIDENCE, Estimate, sum_freedom, t_estimate, undetermined
from eyelevel.stats.hypothesis.difference import DifferenceTest


@dataclass(frozen=True)
class RestrictedDifference:
    """A stack's restricted mean less the reference's, in ms, the mean over sites.

    `timeouts` and `timeouts_reference` are of `pairs` over all sites.
    """

    network: str
    stack: str
    metric: str
    timeouts: int
    timeouts_reference: int
    pairs: int
    difference: Estimate


def restricted_differences(
    kept: pl.DataFrame,
    cells: Sequence[Cell],
    metric: str,
    reference: str,
    sites: Sequence[str],
    limit_ms: float,
) -> list[RestrictedDifference]:
    """One a network and stack of which, or of whose reference, a load timed out.

    It is a difference and no gain: a single timeout multiplies the reference's mean, and the
    linearised ratio's interval is then far too narrow (one timeout of 24 loads gave p = 2e-9).
    Networks and stacks without a complete block of every site are left out: they have no mean over
    `sites`, whatever timed out.
    """
    over_networks = []
    by_key: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        if cell.metric == metric:
            by_key.setdefault((cell.network, cell.stack), []).append(cell)
    for (network, stack), of_pair in by_key.items():
        late = (sum(c.timeouts for c in of_pair), sum(c.timeouts_reference for c in of_pair))
        if not any(late) or {cell.site for cell in of_pair} < set(sites):
            continue
        loads = loads_by_site(kept, {(network, site) for site in sites}, [metric])
        differences = [
            restricted_mean_difference(
                *paired(by_stack[stack][metric], by_stack[reference][metric]), limit_ms
            )
            for by_stack in loads.values()
        ]
        pairs = sum(cell.pairs for cell in of_pair)
        over_sites = mean_difference(differences)
        over_networks.append(RestrictedDifference(network, stack, metric, *late, pairs, over_sites))
    return over_networks


def mean_difference(differences: Sequence[Estimate], confidence: float = CONFIDENCE) -> Estimate:
    """The mean over sites of their differences, each site counting alike.

    Errors add in squares, degrees of freedom after Welch and Satterthwaite; assumes what the
    sites' own estimates do. Undetermined as soon as one of them is.
    """
    if not differences:
        return undetermined("no site")
    count = len(differences)
    values, variances, freedoms = [], [], []
    for difference in differences:
        error, freedom = difference.standard_error, difference.degrees_of_freedom
        if difference.value is None or not error or not freedom:
            return undetermined(difference.reason or "there is no standard error", count)
        values.append(difference.value)
        variances.append(error**2)
        freedoms.append(freedom)
    error = math.sqrt(math.fsum(variances)) / count
    freedom = sum_freedom(variances, freedoms)
    return t_estimate(math.fsum(values) / count, error, freedom, count, confidence)


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
