"""Intervals over hosts: hosts, not rows, are the independent units.

A host's rows share its distance, its server and its load, so they are drawn together: the
cluster bootstrap of Davison and Hinkley (1997), section 3.8, percentile intervals.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LEVEL = 0.95
RESAMPLES = 999
HOSTS_MIN = 5
"""With fewer hosts than that an interval would claim more than it can know."""


@dataclass(frozen=True)
class Interval:
    """Bounds of a 95% interval; None where too few hosts were measured."""

    low: float | None
    high: float | None

    def as_json(self) -> list[float | None]:
        """The two bounds."""
        return [self.low, self.high]


def quantile_intervals(
    values: np.ndarray, hosts: Sequence[str], percents: Sequence[float], seed: int = 1
) -> list[Interval]:
    """One interval a percentile, by drawing hosts with replacement."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    _, host_of = np.unique(np.asarray(hosts), return_inverse=True)
    host_of = host_of[order]
    if host_of.size == 0 or host_of.max() + 1 < HOSTS_MIN:
        return [Interval(None, None) for _ in percents]
    found = np.array(
        [
            _weighted_percentiles(ordered, weights[host_of], percents)
            for weights in _draws(int(host_of.max()) + 1, seed)
        ]
    )
    return [_bounds(found[:, index]) for index in range(len(percents))]


def share_intervals(
    values: np.ndarray, hosts: Sequence[str], thresholds: Sequence[float], seed: int = 1
) -> list[Interval]:
    """One interval a threshold: of the share of values above it."""
    _, host_of = np.unique(np.asarray(hosts), return_inverse=True)
    if host_of.size == 0 or host_of.max() + 1 < HOSTS_MIN:
        return [Interval(None, None) for _ in thresholds]
    rows = np.bincount(host_of)
    above = [np.bincount(host_of, weights=values > t, minlength=rows.size) for t in thresholds]
    draws = np.array(list(_draws(rows.size, seed)))
    totals = draws @ rows
    return [_bounds((draws @ of_threshold) / totals) for of_threshold in above]


def _draws(hosts: int, seed: int) -> list[np.ndarray]:
    """How often each host is drawn, once a resample."""
    generator = np.random.Generator(np.random.PCG64(seed))
    return [
        np.bincount(generator.integers(0, hosts, hosts), minlength=hosts) for _ in range(RESAMPLES)
    ]


def _weighted_percentiles(
    ordered: np.ndarray, weights: np.ndarray, percents: Sequence[float]
) -> np.ndarray:
    """numpy's linear percentiles of values that each stand there `weights` times."""
    ends = np.cumsum(weights)
    position = (ends[-1] - 1) * np.asarray(percents) / 100
    below = np.floor(position)
    low = ordered[np.searchsorted(ends, below, side="right")]
    high = ordered[np.searchsorted(ends, np.minimum(below + 1, ends[-1] - 1), side="right")]
    return low + (high - low) * (position - below)


def _bounds(found: np.ndarray) -> Interval:
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(found, [tail, 100 - tail])
    return Interval(float(low), float(high))
