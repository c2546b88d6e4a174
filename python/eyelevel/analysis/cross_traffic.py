"""Analyse the flows that share the path with pages: their rates, their fairness, their cost."""

import json
from dataclasses import dataclass

import polars as pl

from eyelevel.analysis.gains.cells import compare_cells, network_gains
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.stats.paired import median
from eyelevel.analysis.stats.paired_gains import harm_of_gain
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.plan import Plan

NOT_SETTINGS = ("name", "cross_traffic")
TWINS = ("alone", "beside")
"""Names for loads without and with cross traffic, which are compared as stack and reference."""


@dataclass(frozen=True)
class Harm:
    """The cost of a network's cross traffic for a stack's metric, an estimate as a share.

    `alone` is the same network without cross traffic.
    """

    network: str
    alone: str
    stack: str
    metric: str
    harm: Estimate


def twins(plan: Plan) -> dict[str, str | None]:
    """Return the plan's twin of each network with cross traffic: the same without it, or None."""
    settings = {each.name: each.stated(without=NOT_SETTINGS) for each in plan.networks}
    beside = [network.name for network in plan.networks if network.cross_traffic]
    return {
        name: next((n for n in settings if n not in beside and settings[n] == settings[name]), None)
        for name in beside
    }


def harms(results: StudyResults) -> list[Harm]:
    """Return the harm over sites, by network with a twin, stack and metric.

    It is the gain of the loads without cross traffic against those with it
    (`eyelevel.analysis.gains.cells`), seen from the other side.
    """
    harms_found = []
    for network, alone in twins(results.plan).items():
        if alone is None:
            continue
        for stack in results.stacks:
            rows = _pair_loads(results.blocks.kept, network, alone, stack)
            cells = compare_cells(rows, results.metrics, [Comparison(*TWINS)])
            planned = [(network, *TWINS, metric) for metric in results.metrics]
            harms_found += [
                Harm(network, alone, stack, gain.metric, harm_of_gain(gain.gain))
                for gain in network_gains(cells, results.sites, planned)
            ]
    return harms_found


def flows_of(results: StudyResults) -> list[JsonObject]:
    """Return medians over the counted loads, by network with cross traffic and by stack."""
    flows = []
    for network in twins(results.plan):
        for stack in results.stacks:
            loads = results.blocks.kept.filter(network=network, stack=stack)
            records = [json.loads(text) for text in loads["cross_traffic"].drop_nulls()]
            if records:
                flows.append({"network": network, "stack": stack, **_medians(records)})
    return flows


def _pair_loads(kept: pl.DataFrame, network: str, alone: str, stack: str) -> pl.DataFrame:
    """Pair one stack's loads on both networks as blocks, one per site and repetition."""
    loads = kept.filter((pl.col("stack") == stack) & pl.col("network").is_in([network, alone]))
    named = loads.with_columns(
        stack=pl.when(pl.col("network") == network)
        .then(pl.lit(TWINS[1]))
        .otherwise(pl.lit(TWINS[0])),
        network=pl.lit(network),
        block=pl.concat_str("site", pl.lit("/"), "repetition"),
    )
    return named.filter(pl.len().over("block") == 2)


def _medians(records: list[JsonMapping]) -> JsonObject:
    kinds = [kind for kind, _ in records[0]["goodput_bit_s"]]
    goodputs = zip(*([value for _, value in r["goodput_bit_s"]] for r in records), strict=True)
    index = {
        way: median([r["fairness_index"][way] for r in records])
        for way, value in records[0]["fairness_index"].items()
        if value is not None
    }
    shares = [r["page_share"] for r in records if r["page_share"] is not None]
    return {
        "goodput_bit_s": [
            [kind, median(values)] for kind, values in zip(kinds, goodputs, strict=True)
        ],
        "fairness_index": index,
        "page_share": median(shares),
        "loads": len(records),
    }
