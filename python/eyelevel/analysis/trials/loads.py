"""The values of single loads, by site and stack, as tests of one comparison take them."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Loads = Mapping[str, Mapping[str, Floats]]
"""By stack and metric one value a block, in the blocks' order: infinity for a timeout, not-a-number
where a load has no such metric."""


def loads_by_site(
    kept: pl.DataFrame, sites: Collection[tuple[str, str]], metrics: Sequence[str]
) -> dict[tuple[str, str], Loads]:
    """The loads of each (network, site) of `sites` that has kept blocks (`select_blocks`)."""
    schema = {"network": pl.String, "site": pl.String}
    names = pl.DataFrame(sorted(sites), schema=schema, orient="row")
    late = pl.col("outcome") == "timeout"
    rows = (
        kept.join(names, on=["network", "site"], how="semi")
        .sort("network", "site", "stack", "block")
        .select(
            "network",
            "site",
            "stack",
            *(
                pl.when(late).then(np.inf).otherwise(pl.col(name)).fill_null(np.nan).alias(name)
                for name in metrics
            ),
        )
    )
    found: dict[tuple[str, str], dict[str, Mapping[str, Floats]]] = {}
    for (network, site, stack), part in rows.partition_by(
        "network", "site", "stack", as_dict=True, maintain_order=True
    ).items():
        values = {name: part[name].to_numpy() for name in metrics}
        found.setdefault((str(network), str(site)), {})[str(stack)] = values
    return dict(found)


def paired(values: Floats, reference: Floats) -> tuple[Floats, Floats]:
    """Both without the blocks in which one of them has no value."""
    there = ~(np.isnan(values) | np.isnan(reference))
    return values[there], reference[there]
