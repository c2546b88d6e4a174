"""Estimate what a text estimated, by its own function, with an interval over sites.

Sites are the units: a text's claim is about pages, and ours are a sample of other ones. Means over
sites, and smooth functions of them, have the jackknife's interval (Efron and Stein, Annals of
Statistics 9, 1981), which for a mean is Student's; medians and quantiles have the percentile
interval of resampled sites, since the jackknife does not work for them.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import polars as pl

from eyelevel.analysis.stats.binomial import binomial_interval
from eyelevel.analysis.stats.estimate import (
    CONFIDENCE,
    Estimate,
    Floats,
    are_too_few,
    t_estimate,
    undetermined,
)
from eyelevel.analysis.stats.hypothesis import anova_of_two
from eyelevel.analysis.trials.blocks import up_to_limit

SITES_MIN = 5
"""The fewest sites for an interval over sites."""
RESAMPLES = 1999
SEED = 1

SitePairs = Mapping[str, tuple[Floats, Floats]]
"""The paired loads of each site: those of the stack and of its reference, of one length."""


def pair_loads_of_sites(
    kept: pl.DataFrame, network: str, comparison: tuple[str, str], metric: str
) -> SitePairs:
    """Return the pairs of a comparison's loads by site; a timeout counts as its limit.

    `kept`: the compared loads (`eyelevel.analysis.trials.blocks.select_blocks`).
    """
    if metric not in kept.columns:
        return {}
    of_network = kept.filter(pl.col("network") == network)
    sides = [
        of_network.filter(pl.col("stack") == stack).select(
            "site", "repetition", up_to_limit(metric).alias(name)
        )
        for stack, name in zip(comparison, ("stack", "reference"), strict=True)
    ]
    pairs = sides[0].join(sides[1], on=["site", "repetition"]).drop_nulls()
    pairs = pairs.sort("site", "repetition")
    return {
        str(site): (part["stack"].to_numpy(), part["reference"].to_numpy())
        for (site,), part in pairs.partition_by("site", as_dict=True, maintain_order=True).items()
    }


@dataclass(frozen=True)
class Statistic:
    """A function of a list of sites, in which a site may occur several times."""

    sites: tuple[str, ...]
    of: Callable[[Sequence[str]], float]
    is_smooth: bool = True

    def estimate(self, confidence: float = CONFIDENCE) -> Estimate:
        """Return its value with an interval over sites."""
        n = len(self.sites)
        if n < SITES_MIN:
            value = self.of(self.sites) if n else None
            return undetermined(are_too_few(n, "site"), n, value)
        return self._jackknife(confidence) if self.is_smooth else self._bootstrap(confidence)

    def _jackknife(self, confidence: float) -> Estimate:
        value, n = self.of(self.sites), len(self.sites)
        without = [self.of(self.sites[:k] + self.sites[k + 1 :]) for k in range(n)]
        pseudo = n * value - (n - 1) * np.array(without)
        error = float(pseudo.std(ddof=1)) / math.sqrt(n)
        if error == 0.0:
            return Estimate(value, value, value, n=n)
        return t_estimate(value, error, n - 1, n, confidence)

    def _bootstrap(self, confidence: float) -> Estimate:
        draws = np.random.Generator(np.random.PCG64(SEED)).integers(
            0, len(self.sites), (RESAMPLES, len(self.sites))
        )
        values = [self.of([self.sites[k] for k in draw]) for draw in draws]
        tail = 100 * (1 - confidence) / 2
        low, high = np.percentile(values, [tail, 100 - tail])
        return Estimate(self.of(self.sites), float(low), float(high), n=len(self.sites))


def statistic_of(estimator: str, pairs: SitePairs, rtt_ms: float) -> Statistic:
    """Return the statistic of an estimator over sites (`eyelevel.replication.claims`)."""
    sites = tuple(pairs)
    means = {site: (float(x.mean()), float(r.mean())) for site, (x, r) in pairs.items()}
    by_site: dict[str, Callable[[float, float], float]] = {
        "mean_gain": lambda x, r: (x - r) / r,
        "mean_difference_ms": lambda x, r: x - r,
        "residual_rtt": lambda x, r: (x - r + rtt_ms) / rtt_ms,
        "spread_of_gains": lambda x, r: (x - r) / r,
    }
    if estimator in by_site:
        values = {site: by_site[estimator](*of_site) for site, of_site in means.items()}
        summary = _spread if estimator == "spread_of_gains" else _mean
        return Statistic(sites, lambda drawn: summary([values[site] for site in drawn]))
    if estimator == "median_change":
        return Statistic(sites, partial(_change_of_medians, means), is_smooth=False)
    percent = {"median_of_loads_change": 50.0, "p95_change": 95.0}[estimator]
    return Statistic(sites, partial(_change_of_quantiles, pairs, percent), is_smooth=False)


def order_of(terms: Sequence[Statistic], *, absolute: bool) -> list[Statistic]:
    """Return the differences between neighbouring terms, which an ascending order has above 0.

    They are over the sites that both have.
    """
    return [_difference(low, high, absolute) for low, high in pairwise(terms)]


def share_of_sites(estimator: str, pairs: SitePairs, confidence: float = CONFIDENCE) -> Estimate:
    """Return the share of sites that a text's analysis of variance calls faster, slower or neither.

    Its interval is Clopper and Pearson's.
    """
    found: list[str] = [anova_of_two(x, r).verdict for x, r in pairs.values()]
    decided = [verdict for verdict in found if verdict != "undetermined"]
    wanted = {
        "share_faster": "lower",
        "share_slower": "higher",
        "share_undecided": "no significant difference",
    }[estimator]
    n = len(decided)
    if n < SITES_MIN:
        return undetermined(are_too_few(n, "site"), n)
    count = decided.count(wanted)
    low, high = binomial_interval(count, n, confidence)
    return Estimate(count / n, low, high, n=n)


def _difference(low: Statistic, high: Statistic, absolute: bool) -> Statistic:
    common = tuple(site for site in low.sites if site in set(high.sites))
    sized: Callable[[float], float] = abs if absolute else float
    return Statistic(
        common,
        lambda drawn: sized(high.of(drawn)) - sized(low.of(drawn)),
        low.is_smooth and high.is_smooth,
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _spread(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1))


def _change_of_medians(means: Mapping[str, tuple[float, float]], drawn: Sequence[str]) -> float:
    own, reference = np.median([means[site] for site in drawn], axis=0)
    return float((reference - own) / reference)


def _change_of_quantiles(pairs: SitePairs, percent: float, drawn: Sequence[str]) -> float:
    own, reference = (
        np.percentile(np.concatenate([pairs[site][side] for site in drawn]), percent)
        for side in (0, 1)
    )
    return float((reference - own) / reference)
