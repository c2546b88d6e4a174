"""Counterfactuals: differences divided into their causes, and the study without its twins."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from eyelevel.analysis.gains.cells import value_alone
from eyelevel.analysis.stats.decomposition import Decomposition, decompose_difference
from eyelevel.analysis.trials.blocks import Blocks, up_to_limit
from eyelevel.plan.causes import Causes
from eyelevel.plan.comparisons import Compared
from eyelevel.plan.plan import Plan
from eyelevel.plan.plan_json import StoredPlan

ALL = "all"
LOSS = "loss"


@dataclass(frozen=True)
class NetworkSplit(Compared):
    """One stack's difference against its reference on one network, in milliseconds."""

    network: str
    stack: str
    reference: str
    rtt_ms: float
    split: Decomposition


def split_causes(kept: pl.DataFrame, plan: Plan) -> tuple[NetworkSplit, ...]:
    """Return the parts of the primary metric's differences, by network and comparison.

    They are over all sites; there are none without counterfactuals. `kept` has the kept blocks with
    their counterfactuals. A repetition counts if a network and its lossless twin both have the
    block; a timeout counts as its limit. In a study that may stop early the parts have no interval,
    as it would not allow for stopping.
    """
    if plan.causes is None:
        return ()
    values = _values(kept, plan.primary_metric)
    twin_networks = set(plan.causes.networks.values())
    splits = []
    for network in plan.networks:
        if network.name in twin_networks:
            continue
        for comparison in plan.comparisons:
            pair = (comparison.stack, comparison.reference)
            split = _split(values, plan.causes, network.name, pair, plan.sites)
            if plan.stop:
                split = _without_intervals(split)
            splits.append(NetworkSplit(network.name, *pair, network.rtt_ms_min, split))
    return tuple(splits)


def _without_intervals(split: Decomposition) -> Decomposition:
    return Decomposition(
        value_alone(split.difference),
        {name: value_alone(part) for name, part in split.causes.items()},
        value_alone(split.interaction),
        value_alone(split.remaining),
    )


_Values = Mapping[tuple[str, str, str], Mapping[int, float]]


def _split(
    values: _Values,
    causes: Causes,
    network: str,
    pair: tuple[str, str],
    sites: Sequence[str],
) -> Decomposition:
    lossless = causes.networks.get(network)
    stack, reference = pair
    twins = causes.stacks
    of_stacks = [name for name in twins[stack] if name != ALL]
    worlds: dict[str, tuple[str, str, str]] = {"": (network, stack, reference)}
    for name in of_stacks:
        worlds[name] = (network, twins[stack][name], twins[reference][name])
    if lossless:
        worlds[LOSS] = (lossless, stack, reference)
    ideal = [twins[name].get(ALL, name) for name in pair]
    worlds[ALL] = (lossless or network, ideal[0], ideal[1])
    differences = {
        name: _differences(values, sites, where, pair) for name, (where, *pair) in worlds.items()
    }
    repetitions = sorted({key for of_world in differences.values() for _, key in of_world})
    there = set.intersection(*(set(of_world) for of_world in differences.values()))
    by_world = {name: np.full((len(sites), len(repetitions)), np.nan) for name in worlds}
    for site, repetition in there:
        place = sites.index(site), repetitions.index(repetition)
        for name, of_world in differences.items():
            by_world[name][place] = of_world[site, repetition]
    without = {name: by_world[name] for name in worlds if name not in ("", ALL)}
    return decompose_difference(by_world[""], without, by_world[ALL])


def _differences(
    values: _Values, sites: Sequence[str], network: str, pair: Sequence[str]
) -> dict[tuple[str, int], float]:
    """Return the stack's value less the reference's, by site and repetition that have both."""
    found = {}
    for site in sites:
        one, other = (values.get((site, network, stack), {}) for stack in pair)
        for repetition in one.keys() & other.keys():
            both = one[repetition], other[repetition]
            found[site, repetition] = both[0] - both[1] if math.isfinite(sum(both)) else math.inf
    return found


def _values(kept: pl.DataFrame, metric: str) -> _Values:
    rows = kept.select(
        "site",
        "network",
        "stack",
        "repetition",
        up_to_limit(metric).alias("value"),
    ).drop_nulls()
    by_key: dict[tuple[str, str, str], dict[int, float]] = {}
    for site, network, stack, repetition, value in rows.iter_rows():
        by_key.setdefault((site, network, stack), {})[repetition] = value
    return by_key


def without_twins(
    stored: StoredPlan, table: pl.DataFrame, blocks: Blocks
) -> tuple[StoredPlan, pl.DataFrame, Blocks]:
    """Return plan, trials and blocks without counterfactuals, which are no results themselves."""
    plan, causes = stored.plan, stored.plan.causes
    if causes is None:
        return stored, table, blocks
    stacks = {name for twins in causes.stacks.values() for name in twins.values()}
    networks = set(causes.networks.values())

    def is_answer(name_of_stack: str, name_of_network: str) -> bool:
        return name_of_stack not in stacks and name_of_network not in networks

    mine = ~pl.col("stack").is_in(list(stacks)) & ~pl.col("network").is_in(list(networks))
    reduced = replace(
        stored,
        plan=replace(
            plan,
            stacks=tuple(stack for stack in plan.stacks if stack.name not in stacks),
            networks=tuple(each for each in plan.networks if each.name not in networks),
        ),
        trials=tuple(each for each in stored.trials if is_answer(each.stack, each.network)),
    )
    excluded = tuple(block for block in blocks.excluded if block.network not in networks)
    return reduced, table.filter(mine), replace(blocks, kept=blocks.kept.filter(mine),
                                                excluded=excluded)  # fmt: skip
