"""The primary gains of a study that may stop early, each as of its own last interim analysis."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import polars as pl

from eyelevel.analysis.decisions import Key, horizon_of, networks_compared
from eyelevel.analysis.gains.cells import NetworkGain, compare_cells, network_gains
from eyelevel.analysis.gains.margins import with_margins
from eyelevel.analysis.gains.p_values import value_alone
from eyelevel.analysis.gains.sequential import sequential_gains
from eyelevel.base.json_types import JsonMapping
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.plan import Plan


def decided_gains(
    gains: Sequence[NetworkGain],
    plan: Plan,
    sites: Sequence[str],
    stopped: JsonMapping | None,
    blocks: Callable[[int], pl.DataFrame],
) -> list[NetworkGain]:
    """Replace the primary metric's gains by those from confidence sequences.

    A comparison that was decided (`stopped`: `stop.json`) has the blocks up to its decision, any
    other all of them. `blocks` returns the compared trials up to a repetition.
    """
    decided = last_repetitions(stopped)
    last = {
        key: decided.get(key, plan.blocks)
        for key in product(networks_compared(plan), plan.comparisons)
    }
    found: dict[Key, NetworkGain] = {}
    for repetition in sorted(set(last.values())):
        here = [key for key in last if last[key] == repetition]
        found |= _gains_of(blocks(repetition), plan, sites, here)
    metric = plan.primary_metric
    return [
        found.get((gain.network, gain.comparison), gain) if gain.metric == metric else gain
        for gain in gains
    ]


def last_repetitions(stopped: JsonMapping | None) -> dict[Key, int]:
    """Return the repetition at which each comparison was decided; open ones are absent."""
    return {
        (each["network"], Comparison(each["stack"], each["reference"])): each["repetition"]
        for each in (stopped["comparisons"] if stopped else ())
        if each["repetition"] is not None
    }


def _gains_of(
    kept: pl.DataFrame, plan: Plan, sites: Sequence[str], keys: Sequence[Key]
) -> dict[Key, NetworkGain]:
    """Return the gains of these comparisons, by network and comparison.

    Accompanying analyses keep only their values: their intervals do not allow for interim analyses.
    """
    metric, networks = plan.primary_metric, networks_compared(plan)
    every = sequential_gains(kept, metric, plan.comparisons, networks, sites, horizon_of(plan))
    every = with_margins(every, kept, metric, plan.smallest_effect_of_interest_ms)
    sequential = {(gain.network, gain.comparison): gain for gain in every}
    mine = kept.filter(pl.col("network").is_in([network for network, _ in keys]))
    cells = compare_cells(mine, [metric], plan.comparisons)
    planned = [(network, asked.stack, asked.reference, metric) for network, asked in keys]
    beside = {
        (gain.network, gain.comparison): gain
        for gain in network_gains(cells, sites, planned, metric)
    }
    return {key: _as_looked_at(sequential[key], beside[key]) for key in keys}


def _as_looked_at(gain: NetworkGain, beside: NetworkGain) -> NetworkGain:
    slow = replace(beside.slow_loads, p=None) if beside.slow_loads else None
    return replace(
        gain,
        difference=value_alone(beside.difference),
        ratio_of_means=value_alone(beside.ratio_of_means),
        slow_loads=slow,
    )
