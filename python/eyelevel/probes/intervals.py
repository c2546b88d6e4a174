"""Estimate intervals over hosts: hosts, not rows, are the independent units.

A host's rows share its distance, its server and its load, so they are resampled together: the
cluster bootstrap of Davison and Hinkley (1997), section 3.8, with percentile intervals.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eyelevel.analysis.stats.estimate import CONFIDENCE, Estimate, Floats, undetermined

RESAMPLES = 999
HOSTS_MIN = 5
"""Minimum number of hosts for an interval; with fewer it would be too narrow."""
FEW_HOSTS = f"fewer than {HOSTS_MIN} hosts"


def quantile_estimates(
    values: Floats,
    hosts: Sequence[str],
    percents: Sequence[float],
    seed: int = 1,
    confidence: float = CONFIDENCE,
) -> list[Estimate]:
    """Return one estimate per percentile, its interval from resampling hosts."""
    quantiles = np.percentile(values, percents)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    _, host_of = np.unique(np.asarray(hosts), return_inverse=True)
    host_of = host_of[order]
    if host_of.size == 0 or host_of.max() + 1 < HOSTS_MIN:
        return [undetermined(FEW_HOSTS, value=float(value)) for value in quantiles]
    resampled = np.array(
        [
            _weighted_percentiles(ordered, weights[host_of], percents)
            for weights in _draws(int(host_of.max()) + 1, seed)
        ]
    )
    return [
        _estimate(value, resampled[:, place], confidence) for place, value in enumerate(quantiles)
    ]


def share_estimates(
    values: Floats,
    hosts: Sequence[str],
    thresholds: Sequence[float],
    seed: int = 1,
    confidence: float = CONFIDENCE,
) -> list[Estimate]:
    """Return one estimate per threshold: the share of values above it."""
    shares = [float((values > threshold).mean()) for threshold in thresholds]
    _, host_of = np.unique(np.asarray(hosts), return_inverse=True)
    if host_of.size == 0 or host_of.max() + 1 < HOSTS_MIN:
        return [undetermined(FEW_HOSTS, value=share) for share in shares]
    rows = np.bincount(host_of)
    above = [np.bincount(host_of, weights=values > t, minlength=rows.size) for t in thresholds]
    draws = np.array(list(_draws(rows.size, seed)))
    totals = draws @ rows
    return [
        _estimate(share, (draws @ of_threshold) / totals, confidence)
        for share, of_threshold in zip(shares, above, strict=True)
    ]


def _draws(hosts: int, seed: int) -> list[NDArray[np.int64]]:
    """Return how often each host is drawn, for each resample."""
    generator = np.random.Generator(np.random.PCG64(seed))
    return [
        np.bincount(generator.integers(0, hosts, hosts), minlength=hosts) for _ in range(RESAMPLES)
    ]


def _weighted_percentiles(
    ordered: Floats, weights: NDArray[np.int64], percents: Sequence[float]
) -> Floats:
    """Return linear percentiles, as numpy's, of values that each count `weights` times."""
    ends = np.cumsum(weights)
    position = (ends[-1] - 1) * np.asarray(percents) / 100
    below = np.floor(position)
    low = ordered[np.searchsorted(ends, below, side="right")]
    high = ordered[np.searchsorted(ends, np.minimum(below + 1, ends[-1] - 1), side="right")]
    percentiles: Floats = low + (high - low) * (position - below)
    return percentiles


def _estimate(value: float, resampled: Floats, confidence: float) -> Estimate:
    tail = 100 * (1 - confidence) / 2
    low, high = np.percentile(resampled, [tail, 100 - tail])
    return Estimate(float(value), float(low), float(high))
