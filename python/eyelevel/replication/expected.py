"""Estimate before its loads how many of a text's claims a run decides.

A claim counts by the share of its rows that are decided, on average over what may be true: true
values are taken as normal around what a claim says, with a standard deviation of EFFECT, and
estimates as normal around true values with the error of the planned loads.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl
import scipy.special

from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME
from eyelevel.analysis.stats.estimate import CONFIDENCE
from eyelevel.plan.plan import Plan
from eyelevel.replication.claims import Claim, Row
from eyelevel.replication.estimators import SITES_MIN, pair_loads_of_sites
from eyelevel.replication.verdicts import region_of
from eyelevel.run.study.estimate import DEVIATION

EFFECT = 0.10
"""The standard deviation of true values around claimed ones, as a share: half of the gains that
Wolsing et al. publish are smaller."""
ROUND_TRIPS = 4.0
"""The round trips of a load whose residual is estimated, a page of one origin: with it the default
is 0.4 of them, and 0.2 to 1.1 were measured (docs/replications/wolsing-2019.json, W3 and W5)."""
SITES_MIN_OF_QUANTILES = 6
"""The fewest sites that bound a median (`eyelevel.replication.estimators`)."""
_QUANTILES = ("median_change", "median_of_loads_change", "p95_change")
_ERRORS: Mapping[str, float] = {
    "median_change": math.sqrt(math.pi / 2),
    "median_of_loads_change": math.sqrt(math.pi / 2),
    "p95_change": 2.11,
    "spread_of_gains": math.sqrt(1 / 2),
}
"""The error of an estimator of normal values against that of their mean, where it differs."""


@dataclass(frozen=True)
class Scatter:
    """The standard deviation of the sites' gains, by metric, in earlier runs of the text."""

    of_metric: Mapping[str, float] = field(default_factory=dict)

    def deviation(self, metric: str, blocks: int) -> float:
        """Return that of earlier runs, or the default of `plan estimate` for these blocks."""
        return self.of_metric.get(metric, DEVIATION / math.sqrt(blocks))


def measure_scatter(runs: Iterable[tuple[Plan, pl.DataFrame]]) -> Scatter:
    """Return the scatter in runs: each a plan and its loads that count.

    It is the root of the mean variance over networks and comparisons of at least SITES_MIN sites.
    """
    variances: dict[str, list[float]] = {}
    for plan, kept in runs:
        metrics = [name for name in METRICS_BY_NAME if name in kept.columns]
        for network in plan.networks:
            for each in plan.comparisons:
                for metric in metrics:
                    pair = each.stack, each.reference
                    loads = pair_loads_of_sites(kept, network.name, pair, metric).up_to_limit()
                    means = [(x.mean(), r.mean()) for x, r in loads.values()]
                    gains = [(x - r) / r for x, r in means if r > 0]
                    if len(gains) >= SITES_MIN:
                        variances.setdefault(metric, []).append(float(np.var(gains, ddof=1)))
    return Scatter({name: math.sqrt(np.mean(each)) for name, each in variances.items()})


@dataclass(frozen=True)
class Loads:
    """The loads that are planned of one network."""

    plan: Plan
    blocks: int
    load_ms: float
    """The time of a load, by the estimate."""

    def expect_decisions(self, claims: Iterable[Claim], scatter: Scatter) -> float:
        """Return how many of the claims these loads are expected to decide."""
        return math.fsum(self._expect(each, scatter) for each in claims)

    def _expect(self, claim: Claim, scatter: Scatter) -> float:
        """Return the expected share of a claim's rows that are decided.

        A row of several networks counts in each of them by its share.
        """
        rows, shares = claim.rows, []
        for row in rows:
            terms = claim.terms_of(row)
            here = [term for term in terms if self._has(term)]
            if here:
                decided = self._probability(claim, row, here[0].metric, scatter)
                shares.append(decided * len(here) / len(terms))
        return math.fsum(shares) / len(rows) if rows else 0.0

    def _has(self, row: Row) -> bool:
        stacks = {stack.name for stack in self.plan.stacks}
        of_network = row.network in {network.name for network in self.plan.networks}
        return of_network and set(row.stacks) <= stacks

    def _probability(self, claim: Claim, row: Row, metric: str, scatter: Scatter) -> float:
        """Return the probability that a row is decided by these loads."""
        sites, estimator = len(self.plan.sites), str(claim.estimator)
        is_of_loads = sites == 1 and claim.scope == "property" and estimator == "mean_gain"
        units = self.blocks if is_of_loads else sites
        fewest = 2 if is_of_loads else SITES_MIN
        if estimator in _QUANTILES:
            fewest = SITES_MIN_OF_QUANTILES
        if units < fewest or self.blocks < claim.blocks_min:
            return 0.0
        unit = self._unit(claim)
        deviation = scatter.deviation(metric, 1 if is_of_loads else self.blocks) * unit
        error = deviation * _ERRORS.get(estimator, 1.0) / math.sqrt(units)
        centre = row.number or 0.0
        if estimator.startswith("share_"):
            likely = min(max(row.number if row.number is not None else 0.5, 0.05), 0.95)
            error = math.sqrt(likely * (1 - likely) / units)
        if claim.rule == "order":
            error *= math.sqrt(2)
        reach = float(scipy.special.stdtrit(units - 1, 0.5 + CONFIDENCE / 2)) * error
        spread = math.hypot(EFFECT * unit, error)
        return find_probability_decided(region_of(claim, row), reach, (centre, spread))

    def _unit(self, claim: Claim) -> float:
        """Return what a gain of 100 % is in the unit of a claim's estimator."""
        if claim.estimator == "mean_difference_ms":
            return self.load_ms
        if claim.estimator == "residual_rtt":
            return ROUND_TRIPS
        return 1.0


def find_probability_decided(
    region: tuple[float, float], reach: float, estimate: tuple[float, float]
) -> float:
    """Return the probability that an interval is within a region or beyond it.

    `reach`: half of the interval; `estimate`: mean and standard deviation of its middle.
    """
    mean, deviation = estimate

    def below(value: float) -> float:
        return float(scipy.special.ndtr((value - mean) / deviation))

    low, high = region
    within = below(high - reach) - below(low + reach) if high - low > 2 * reach else 0.0
    return within + below(low - reach) + 1 - below(high + reach)
