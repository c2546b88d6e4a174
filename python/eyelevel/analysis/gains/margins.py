"""A smallest effect of interest in ms, as the share that it is of each comparison's reference."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.trials.blocks import up_to_limit


def with_margins(
    gains: Sequence[NetworkGain], kept: pl.DataFrame, metric: str, least_ms: float | None
) -> list[NetworkGain]:
    """Return the gains; those of `metric`, a time, with `least_ms` as a share of the geometric mean
    of the reference's loads."""
    if least_ms is None:
        return list(gains)
    loads = kept.select("network", "stack", up_to_limit(metric)).filter(pl.col(metric) > 0)
    means = loads.group_by("network", "stack").agg(pl.col(metric).log().mean().exp())
    mean_ms = {(network, stack): mean for network, stack, mean in means.iter_rows()}
    return [
        replace(gain, least_share=least_ms / mean_ms[key])
        if gain.metric == metric and (key := (gain.network, gain.reference)) in mean_ms
        else gain
        for gain in gains
    ]
