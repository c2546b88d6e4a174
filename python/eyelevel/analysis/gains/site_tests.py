"""Further tests of one comparison, each with other assumptions than the published ANOVA.

The mixed model over sites for every network and comparison of a study. Test whether the primary
metric's differences drift from repetition to repetition.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from eyelevel.analysis.gains.cells import Cell
from eyelevel.analysis.stats.autocorrelation import (
    DRIFT_LENGTH,
    DRIFT_SHARE,
    lag_one,
    noticed_share,
)
from eyelevel.analysis.stats.bootstrap import bootstrap_difference
from eyelevel.analysis.stats.censoring import too_many, up_to_limit
from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL, Estimate, Floats, undetermined
from eyelevel.analysis.stats.hypothesis import (
    RUNS_MIN,
    DifferenceTest,
    PairDifference,
    games_howell,
    kruskal_wallis,
    mann_whitney,
    welch_anova,
)
from eyelevel.analysis.stats.mixed_model import SITES_MIN, SitesModel, gain_over_sites
from eyelevel.analysis.trials.blocks import drop_incomplete, loads_by_site
from eyelevel.base.json_types import JsonObject
from eyelevel.plan.comparisons import Compared, Comparison


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
        comparison = Comparison(cell.stack, cell.reference)
        by_metric.setdefault(cell.metric, []).append(comparison)
    stacks = dict.fromkeys(
        stack for comparison in comparisons for stack in (comparison.reference, comparison.stack)
    )
    metrics = list(dict.fromkeys(cell.metric for cell in cells))
    loads = loads_by_site(kept, wanted.keys(), metrics)
    tests: dict[tuple[str, ...], SiteTests] = {}
    for (network, site), by_metric in wanted.items():
        for metric, tested in by_metric.items():
            by_stack = loads[network, site]
            runs = {stack: by_stack[stack][metric] for stack in stacks if stack in by_stack}
            pairs: dict[str, dict[str, PairDifference]] = {}
            for comparison in tested:
                stack, reference = comparison.stack, comparison.reference
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


NAMED_MAX = 3


@dataclass(frozen=True)
class NetworkModel(Compared):
    """The mixed model's estimate for one stack on one network, for sites like the study's."""

    network: str
    stack: str
    reference: str
    metric: str
    model: SitesModel


def models_over_sites(
    cells: Sequence[Cell],
    metric: str,
    comparisons: Sequence[Comparison],
    networks: Sequence[str],
    sites: Sequence[str],
) -> list[NetworkModel]:
    """Return one model per network and comparison; empty if there are fewer than five sites.

    The p values are not corrected for the number of networks and comparisons. A timeout counts as
    its limit. A model is undetermined if a site has no complete block: sites that cannot be
    measured are seldom like the others.
    """
    if len(sites) < SITES_MIN:
        return []
    by_key: dict[tuple[str, Comparison], list[Cell]] = {}
    for cell in cells:
        if cell.metric == metric and len(cell.loads[0]):
            by_key.setdefault((cell.network, cell.comparison), []).append(cell)
    models = []
    for network in networks:
        for comparison in comparisons:
            model = _model(by_key.get((network, comparison), []), sites)
            models.append(
                NetworkModel(network, comparison.stack, comparison.reference, metric, model)
            )
    return models


def _model(cells: Sequence[Cell], sites: Sequence[str]) -> SitesModel:
    if absent := [site for site in sites if site not in {cell.site for cell in cells}]:
        which = ", ".join(absent) if len(absent) <= NAMED_MAX else f"{len(absent)} sites"
        return SitesModel(undetermined(f"no complete block of {which}", len(sites)))
    late = max(sum(cell.timeouts for cell in cells), sum(cell.timeouts_reference for cell in cells))
    if reason := too_many(late, sum(cell.pairs for cell in cells)):
        return SitesModel(undetermined(reason, len(sites)))
    return gain_over_sites(
        {
            cell.site: (up_to_limit(x, cell.limit), up_to_limit(r, cell.limit))
            for cell in cells
            for _, x, r in (cell.loads,)
        }
    )


@dataclass(frozen=True)
class Drift:
    """The lag-1 autocorrelation of the differences, over all comparisons and networks.

    `noticed_share`: the power of the test with this many repetitions, against a drift that is
    DRIFT_SHARE of one stack's variance and lasts DRIFT_LENGTH repetitions.
    """

    autocorrelation: Estimate
    noticed_share: float

    @property
    def seen(self) -> bool:
        """Whether a report warns of drift; it does so wrongly in at most 5 % of runs."""
        return self.autocorrelation.p is not None and self.autocorrelation.p <= SIGNIFICANCE_LEVEL

    def as_json(self) -> JsonObject:
        """Return the JSON of a report (docs/reference/report.md)."""
        return {
            "autocorrelation": self.autocorrelation.as_json(),
            "noticed_share": self.noticed_share,
            "of_share": DRIFT_SHARE,
            "of_repetitions": DRIFT_LENGTH,
        }


def drift_of(cells: Sequence[Cell], metric: str, comparisons: Sequence[Comparison]) -> Drift | None:
    """Return the drift of a metric's differences; None if nothing is compared.

    The value of a repetition is the mean over sites of the log ratios, each centred by its site; a
    timeout counts as its limit. Comparisons with a value of 0 have no ratios and are left out.
    """
    by_comparison: dict[tuple[str, Comparison], list[Cell]] = {}
    for cell in cells:
        if cell.metric == metric:
            by_comparison.setdefault((cell.network, cell.comparison), []).append(cell)
    repetitions = max((int(cell.loads[0].max(initial=0)) for cell in cells), default=0)
    rows = [_differences(group, repetitions) for group in by_comparison.values()]
    if not rows:
        return None
    stacks = sorted(
        {name for comparison in comparisons for name in (comparison.stack, comparison.reference)}
    )
    pairs = tuple((stacks.index(each.stack), stacks.index(each.reference)) for each in comparisons)
    found = lag_one(np.array(rows))
    networks = len({network for network, _ in by_comparison})
    return Drift(found, noticed_share(found.n, len(stacks), pairs, networks))


def _differences(cells: Sequence[Cell], repetitions: int) -> Floats:
    """Return one value per repetition; not-a-number if there is none."""
    sums, counts = np.zeros((2, repetitions))
    for cell in cells:
        places, x, r = cell.loads
        limited = (up_to_limit(each[None], [cell.limit])[0] for each in (x, r))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.subtract(*map(np.log, limited))
        there = np.isfinite(ratios)
        if not there.all() or not there.any():
            return np.full(repetitions, np.nan)
        sums[places - 1] += ratios - ratios.mean()
        counts[places - 1] += 1
    with np.errstate(invalid="ignore"):
        means: Floats = sums / counts
    return means
