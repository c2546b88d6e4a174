"""Further tests of one comparison, each with other assumptions than the published ANOVA."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelevel.analysis.gains.cells import Cell
from eyelevel.analysis.stats.bootstrap import bootstrap_difference
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.stats.hypothesis.anova import welch_anova
from eyelevel.analysis.stats.hypothesis.difference import RUNS_MIN, DifferenceTest
from eyelevel.analysis.stats.hypothesis.games_howell import PairDifference, games_howell
from eyelevel.analysis.stats.hypothesis.kruskal_wallis import kruskal_wallis
from eyelevel.analysis.stats.hypothesis.mann_whitney import mann_whitney
from eyelevel.analysis.trials.blocks import drop_incomplete, loads_by_site
from eyelevel.plan.comparisons import Compared, Comparison

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SiteTests(Compared):
    """The further tests of one comparison on one site, network and metric.

    `games_howell` is corrected for all pairs of the compared stacks whose loads all ended; the
    other tests are of this pair alone. `mean_difference` is over blocks, in the metric's unit, with
    its bootstrap interval. None is corrected for the number of sites, networks or metrics.
    """

    network: str
    site: str
    stack: str
    reference: str
    metric: str
    welch_anova: DifferenceTest
    kruskal_wallis: DifferenceTest
    games_howell: Estimate
    mann_whitney: DifferenceTest
    cliffs_delta: Estimate
    mean_difference: Estimate


def site_tests(
    kept: pl.DataFrame, cells: Sequence[Cell], comparisons: Sequence[Comparison]
) -> list[SiteTests]:
    """Return the tests of each of `cells`, in their order, from the kept blocks (`select_blocks`).

    `comparisons`: all of the plan. A cell of 30 blocks and five stacks takes about 6 ms, so that
    large studies have to select cells.
    """
    wanted: dict[tuple[str, str], dict[str, list[Comparison]]] = {}
    for cell in cells:
        by_metric = wanted.setdefault((cell.network, cell.site), {})
        asked = Comparison(cell.stack, cell.reference)
        by_metric.setdefault(cell.metric, []).append(asked)
    stacks = dict.fromkeys(
        stack for asked in comparisons for stack in (asked.reference, asked.stack)
    )
    metrics = list(dict.fromkeys(cell.metric for cell in cells))
    loads = loads_by_site(kept, wanted.keys(), metrics)
    tests: dict[tuple[str, ...], SiteTests] = {}
    for (network, site), by_metric in wanted.items():
        for metric, tested in by_metric.items():
            by_stack = loads[network, site]
            runs = {stack: by_stack[stack][metric] for stack in stacks if stack in by_stack}
            pairs: dict[str, dict[str, PairDifference]] = {}
            for asked in tested:
                stack, reference = asked.stack, asked.reference
                if reference not in pairs:
                    pairs[reference] = _all_pairs(runs, reference)
                x, r = drop_incomplete(runs[stack], runs[reference])
                howell = pairs[reference].get(stack) or _pair_outside_family(stack, x, reference, r)
                dominance = mann_whitney(x, r)
                alike = "" if dominance.p is not None else dominance.reason
                key = (network, site, stack, reference, metric)
                tests[key] = SiteTests(
                    *key,
                    welch_anova=welch_anova([x, r]),
                    kruskal_wallis=kruskal_wallis([x, r]),
                    games_howell=Estimate(
                        howell.value, howell.low, howell.high, howell.p, reason=howell.reason
                    ),
                    mann_whitney=DifferenceTest(dominance.u, dominance.p, reason=alike),
                    cliffs_delta=Estimate(
                        dominance.delta, dominance.low, dominance.high, reason=dominance.reason
                    ),
                    mean_difference=bootstrap_difference(x, r),
                )
    return [
        tests[cell.network, cell.site, cell.stack, cell.reference, cell.metric] for cell in cells
    ]


def _all_pairs(runs: Mapping[str, Floats], reference: str) -> dict[str, PairDifference]:
    """Return each stack's pair with the reference, among all stacks with means and spread.

    A stack with a timeout has no mean and is not in the family, or it would leave all other pairs
    undetermined.
    """
    there = {stack: values[~np.isnan(values)] for stack, values in runs.items()}
    family = {
        stack: values
        for stack, values in there.items()
        if len(values) >= RUNS_MIN and np.isfinite(values).all() and np.ptp(values) > 0
    }
    if reference not in family or len(family) < 2:
        return {}
    return {pair.first: pair for pair in games_howell(family, against=reference)}


def _pair_outside_family(stack: str, x: Floats, reference: str, r: Floats) -> PairDifference:
    """Return the undetermined pair of a stack outside of the family, with its own reason."""
    (pair,) = games_howell({stack: x, reference: r})
    return pair if pair.p is None else PairDifference(stack, reference, reason="too few values")
