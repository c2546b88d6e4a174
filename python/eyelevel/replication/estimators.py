"""Estimate what a text estimated, by its own function, with an interval over sites.

Sites are the units: a text's claim is about pages, and ours are a sample of other ones. Means over
sites, and smooth functions of them, have the jackknife's interval (Efron and Stein, Annals of
Statistics 9, 1981), which for a mean is Student's; medians and quantiles have the percentile
interval of resampled sites, since the jackknife does not work for them.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

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
from eyelevel.analysis.stats.paired_gains import performance_gain
from eyelevel.analysis.trials.blocks import with_timeouts

SITES_MIN = 5
"""The fewest sites for an interval over sites."""
RESAMPLES = 9999
TAIL_MIN = 10
"""The fewest resamples beyond each bound: fewer are too few for a percentile."""
SEED = 1
TIMEOUTS_SHARE_MAX = 0.02
"""The largest share of loads that timed out with which a mean is one: a timeout counts as its
limit, so that a mean with many is a bound, and two stacks that both time out look equal."""

Indexes = NDArray[np.int64]


@dataclass(frozen=True)
class SitePairs:
    """The paired loads of a comparison by site: a stack's and its reference's, of one length."""

    loads: Mapping[str, tuple[Floats, Floats]]
    """Values of loads; infinite for a timeout."""
    limit_ms: float = math.inf

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites, in order."""
        return tuple(self.loads)

    def with_loads(self, loads_min: int) -> "SitePairs":
        """Return the pairs of the sites that have as many."""
        enough = {site: each for site, each in self.loads.items() if len(each[0]) >= loads_min}
        return SitePairs(enough, self.limit_ms)

    def with_sites(self, sites: tuple[str, ...]) -> "SitePairs":
        """Return the pairs of these sites."""
        chosen = {site: each for site, each in self.loads.items() if site in sites}
        return SitePairs(chosen, self.limit_ms)

    @property
    def timeouts_share(self) -> float:
        """The larger of both stacks' shares of loads that timed out."""
        late = [
            np.isinf(np.concatenate([each[side] for each in self.loads.values()])).mean()
            for side in (0, 1)
        ]
        return float(max(late))

    def up_to_limit(self) -> Mapping[str, tuple[Floats, Floats]]:
        """Return the loads by site, a timeout as its limit."""
        return {
            site: (np.minimum(x, self.limit_ms), np.minimum(r, self.limit_ms))
            for site, (x, r) in self.loads.items()
        }


NO_PAIRS = SitePairs({})


def pair_loads_of_sites(
    kept: pl.DataFrame, network: str, comparison: tuple[str, str], metric: str
) -> SitePairs:
    """Return the pairs of a comparison's loads by site.

    `kept`: the compared loads (`eyelevel.analysis.trials.blocks.select_blocks`).
    """
    of_network = kept.filter(pl.col("network") == network)
    if metric not in kept.columns or not of_network.height:
        return NO_PAIRS
    sides = [
        of_network.filter(pl.col("stack") == stack).select(
            "site", "repetition", with_timeouts(metric).alias(name)
        )
        for stack, name in zip(comparison, ("stack", "reference"), strict=True)
    ]
    pairs = sides[0].join(sides[1], on=["site", "repetition"]).drop_nulls()
    parts = pairs.sort("site", "repetition").partition_by("site", as_dict=True, maintain_order=True)
    loads = {
        str(site): (part["stack"].to_numpy(), part["reference"].to_numpy())
        for (site,), part in parts.items()
    }
    limit = of_network["limit_ms"].max() if metric.endswith("_ms") else None
    return SitePairs(loads, math.inf if limit is None else float(limit))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Statistic:
    """A function of sites: `of` takes draws of indexes into `sites`, one in a row, and returns a
    value for each."""

    sites: tuple[str, ...]
    of: Callable[[Indexes], Floats]
    is_smooth: bool = True

    @property
    def value(self) -> float:
        """The value of all sites."""
        return float(self.of(np.arange(len(self.sites))[None, :])[0])

    def estimate(self, confidence: float = CONFIDENCE) -> Estimate:
        """Return its value with an interval over sites."""
        n = len(self.sites)
        if n < SITES_MIN:
            return undetermined(are_too_few(n, "site"), n, self.value if n else None)
        return self._jackknife(confidence) if self.is_smooth else self._bootstrap(confidence)

    def _jackknife(self, confidence: float) -> Estimate:
        value, n = self.value, len(self.sites)
        every = np.arange(n)
        without = self.of(np.array([np.delete(every, place) for place in every]))
        pseudo = n * value - (n - 1) * without
        error = float(pseudo.std(ddof=1)) / math.sqrt(n)
        if error == 0.0:
            return Estimate(value, value, value, n=n)
        return t_estimate(value, error, n - 1, n, confidence)

    def _bootstrap(self, confidence: float) -> Estimate:
        value, n = self.value, len(self.sites)
        beyond = (1 - confidence) / 2
        # No interval of resampled sites is wider than from the least to the largest site.
        if RESAMPLES * beyond < TAIL_MIN or 2 * 0.5**n > 1 - confidence:
            return undetermined(f"{are_too_few(n, 'site')} for this confidence", n, value)
        draws = np.random.Generator(np.random.PCG64(SEED)).integers(0, n, (RESAMPLES, n))
        low, high = np.percentile(self.of(draws), [100 * beyond, 100 * (1 - beyond)])
        return Estimate(value, float(low), float(high), n=n)


def statistic_of(estimator: str, pairs: SitePairs, rtt_ms: float) -> Statistic:
    """Return the statistic of an estimator over sites (`eyelevel.replication.claims`)."""
    loads = pairs.up_to_limit()
    x, r = (np.array([each[side].mean() for each in loads.values()]) for side in (0, 1))
    by_site: dict[str, Callable[[], Floats]] = {
        "mean_gain": lambda: (x - r) / r,
        "mean_difference_ms": lambda: x - r,
        "residual_rtt": lambda: (x - r + rtt_ms) / rtt_ms,
    }
    if estimator in by_site:
        values = by_site[estimator]()
        return Statistic(pairs.sites, lambda draws: values[draws].mean(axis=1))
    if estimator == "spread_of_gains":
        errors = [performance_gain(*each).standard_error for each in loads.values()]
        noise = np.array([math.nan if each is None else each**2 for each in errors])
        return Statistic(pairs.sites, partial(_spread, (x - r) / r, noise))
    if estimator == "median_change":
        return Statistic(pairs.sites, partial(_change_of_medians, x, r), is_smooth=False)
    percent = {"median_of_loads_change": 50.0, "p95_change": 95.0}[estimator]
    of_sites = list(loads.values())
    change = partial(_change_of_quantiles, of_sites, percent)
    return Statistic(pairs.sites, change, is_smooth=False)


def compare_neighbours(terms: list[Statistic], *, absolute: bool) -> list[Statistic]:
    """Return the differences between neighbouring terms, which an ascending order has above 0.

    They are over the sites that both have.
    """
    return [_subtract(low, high, absolute) for low, high in pairwise(terms)]


def estimate_share_of_sites(
    estimator: str, pairs: SitePairs, confidence: float = CONFIDENCE
) -> Estimate:
    """Return the share of sites that a text's analysis of variance calls faster, slower or neither.

    A site with a timeout has no such analysis. Its interval is Clopper and Pearson's.
    """
    found: list[str] = [anova_of_two(x, r).verdict for x, r in pairs.loads.values()]
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


def _subtract(low: Statistic, high: Statistic, absolute: bool) -> Statistic:
    common = tuple(site for site in low.sites if site in set(high.sites))
    places = [
        np.array([side.sites.index(site) for site in common], dtype=np.int64)
        for side in (low, high)
    ]

    def difference(draws: Indexes) -> Floats:
        below, above = low.of(places[0][draws]), high.of(places[1][draws])
        found: Floats = np.abs(above) - np.abs(below) if absolute else above - below
        return found

    return Statistic(common, difference, low.is_smooth and high.is_smooth)


def _spread(gains: Floats, noise: Floats, draws: Indexes) -> Floats:
    """Return the standard deviation of sites' true gains: without the noise of their loads.

    It is negative where the noise alone would spread the gains further.
    """
    variance = gains[draws].var(axis=1, ddof=1) - noise[draws].mean(axis=1)
    spread: Floats = np.sign(variance) * np.sqrt(np.abs(variance))
    return spread


def _change_of_medians(x: Floats, r: Floats, draws: Indexes) -> Floats:
    own, reference = np.median(x[draws], axis=1), np.median(r[draws], axis=1)
    change: Floats = (reference - own) / reference
    return change


def _change_of_quantiles(
    loads: list[tuple[Floats, Floats]], percent: float, draws: Indexes
) -> Floats:
    own, reference = (_quantiles([each[side] for each in loads], percent, draws) for side in (0, 1))
    change: Floats = (reference - own) / reference
    return change


def _quantiles(sites: list[Floats], percent: float, draws: Indexes) -> Floats:
    """Return the percentile over all loads of the drawn sites, for each draw."""
    counts = {len(each) for each in sites}
    if len(counts) == 1:  # as without lost loads, and a hundred times as fast
        drawn = np.stack(sites)[draws].reshape(len(draws), -1)
        found: Floats = np.percentile(drawn, percent, axis=1)
        return found
    return np.array(
        [np.percentile(np.concatenate([sites[site] for site in draw]), percent) for draw in draws]
    )
