"""A smallest effect of interest in ms, as the share that it is of each comparison's reference."""

import math
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.stats.paired_gains import log_mean
from eyelevel.analysis.trials.blocks import up_to_limit

LOG_SHARE_MAX = 5.0
"""The logarithm of the largest share, 147 times the reference: next to nothing, all is alike."""


def with_margins(
    gains: Sequence[NetworkGain], kept: pl.DataFrame, metric: str, least_ms: float | None
) -> list[NetworkGain]:
    """Return the gains; those of `metric`, a time, with `least_ms` as a share of the geometric mean
    of the reference's loads.

    Where a load has 0, it is a share of what the gain is of: the logarithmic mean of both stacks'
    arithmetic means (`eyelevel.analysis.stats.paired_gains.pair_log_ratios`).
    """
    if least_ms is None:
        return list(gains)
    loads = kept.select("network", "stack", up_to_limit(metric)).drop_nulls()
    means = loads.group_by("network", "stack").agg(
        least=pl.col(metric).min(),
        mean=pl.col(metric).mean(),
        geometric=pl.col(metric).log().mean().exp(),
    )
    by_stack = {(network, stack): found for network, stack, *found in means.iter_rows()}

    def share(gain: NetworkGain) -> float:
        own, other = (by_stack.get((gain.network, name)) for name in (gain.stack, gain.reference))
        if gain.metric != metric or other is None:
            return gain.least_share
        if own is None or min(own[0], other[0]) > 0:
            return least_ms / other[2] if other[2] > 0 else gain.least_share
        scale = float(log_mean(own[1], other[1]))
        return math.expm1(min(least_ms / scale, LOG_SHARE_MAX)) if scale > 0 else gain.least_share

    return [replace(gain, least_share=share(gain)) for gain in gains]
