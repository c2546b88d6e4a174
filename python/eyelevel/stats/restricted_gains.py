"""Gains where loads timed out, of the mean times up to the limit."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from eyelevel.stats.gain import mean_gain, performance_gain
from eyelevel.stats.loads import loads_by_site, paired
from eyelevel.stats.study import Cell, NetworkGain


def restricted_gains(
    kept: pl.DataFrame,
    cells: Sequence[Cell],
    metric: str,
    reference: str,
    sites: Sequence[str],
    limit_ms: float,
) -> list[NetworkGain]:
    """One gain a network and stack of which some load timed out, the mean over `sites`.

    (X - reference) / reference of the restricted means E[min(T, limit)] (`censored.py` has their
    source), with the interval of `performance_gain`, whose assumptions it shares; a mean of values
    of which a few are at the limit needs many blocks to be about normal. A timeout counts as the
    limit, so the gain understates how much slower a stack is that times out. p is not corrected.
    Networks and stacks without a complete block of every site are left out: they have no mean over
    `sites`, whatever timed out.
    """
    wanted: dict[tuple[str, str], set[str]] = {}
    late: dict[tuple[str, str], None] = {}
    for cell in cells:
        if cell.metric == metric:
            wanted.setdefault((cell.network, cell.arm), set()).add(cell.site)
            if cell.timeouts or cell.timeouts_reference:
                late[cell.network, cell.arm] = None
    found = []
    for network, arm in late:
        if not wanted[network, arm] >= set(sites):
            continue
        loads = loads_by_site(kept, {(network, site) for site in sites}, [metric])
        gains = []
        for site in sites:
            by_arm = loads[network, site]
            pair = paired(by_arm[arm][metric], by_arm[reference][metric])
            gains.append(performance_gain(*(np.minimum(each, limit_ms) for each in pair)))
        found.append(NetworkGain(network, arm, metric, mean_gain(gains)))
    return found
