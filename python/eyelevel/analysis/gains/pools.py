"""Pooled errors of each network's stacks, for the intervals of its gains.

They are used only where the number of blocks is fixed: a study that may stop early has confidence
sequences of each comparison's own values.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import polars as pl

from eyelevel.analysis.stats.estimate import Floats
from eyelevel.analysis.stats.pooled import Pool, pool_of
from eyelevel.analysis.trials.blocks import with_timeouts

Pools = Mapping[tuple[str, str], Pool]
"""Pools by network and metric; absent where too few stacks can share an error."""


def pools_of(kept: pl.DataFrame, metrics: Sequence[str], sites: Collection[str]) -> Pools:
    """Return the pooled errors of the kept loads of `sites`, by network and metric."""
    rows = kept.filter(pl.col("site").is_in(list(sites)))
    columns = [with_timeouts(metric).fill_null(np.nan) for metric in metrics]
    pools = {}
    for (network,), part in rows.partition_by("network", as_dict=True, maintain_order=True).items():
        names, stacks = np.unique(part["stack"].to_numpy(), return_inverse=True)
        places = [
            np.unique(part[name].to_numpy(), return_inverse=True) for name in ("site", "repetition")
        ]
        values = part.select(columns).to_numpy()
        shape = (len(names), *(len(found) for found, _ in places))
        for column, metric in enumerate(metrics):
            loads: Floats = np.full(shape, np.nan)
            loads[stacks, places[0][1], places[1][1]] = values[:, column]
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = dict(zip(names.tolist(), np.log(loads), strict=True))
            if (found := pool_of(logs)) is not None:
                pools[str(network), metric] = found
    return pools


def pool_for(
    pools: Pools | None, network: str, stack: str, reference: str, metric: str
) -> Pool | None:
    """Return the pool that two stacks share; None if either has an error of its own."""
    found = None if pools is None else pools.get((network, metric))
    return found if found is not None and found.shared_by(stack, reference) else None
