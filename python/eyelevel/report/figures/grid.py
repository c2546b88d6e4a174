"""The rows behind figures 5-1 and 5-2 of Das 2014: a grid of rates by round trips."""

from collections.abc import Sequence

import polars as pl

from eyelevel.analysis.claims import is_claimed, verdict_of
from eyelevel.analysis.study import StudyResults
from eyelevel.plan.networks.network import Network
from eyelevel.plan.networks.presets import UNSHAPED
from eyelevel.report.charts.das import OPTIMAL
from eyelevel.report.figures.medians import places, site_medians

RATES_MBIT_S = (1.0, 14.0, 24.0)
RTTS_MS = (30.0, 120.0, 300.0)
"""The axes of figure 5-1; for other grids, the lowest, middle and highest values replace them."""


def improvements(contents: StudyResults) -> pl.DataFrame:
    """Return figure 5-2: (reference - stack) / reference of medians over sites, by rate and RTT.

    Cells without a finite value are absent, as where half of the sites timed out over a stack.
    `claimed`: the gain's verdict has the same direction; all others are drawn without colour.
    """
    medians = site_medians(contents)
    grid = whole_grid(contents.planned.networks)
    if not medians.height or not grid.height:
        return pl.DataFrame()
    typical = medians.group_by("network", "stack").agg(pl.col("seconds").median(), sites=pl.len())
    asked = pl.DataFrame(
        [(each.stack, each.reference, str(each)) for each in contents.comparisons],
        schema=dict.fromkeys(("stack", "reference", "comparison"), pl.String),
        orient="row",
    )
    of_reference = typical.select("network", reference="stack", reference_seconds="seconds")
    joined = typical.join(asked, on="stack").join(of_reference, on=["network", "reference"])
    better = (pl.col("reference_seconds") - pl.col("seconds")) / pl.col("reference_seconds")
    compared = joined.join(grid, on="network").with_columns(improvement=better)
    compared = compared.filter(pl.col("improvement").is_finite())
    claims = [(each.network, str(each.comparison), verdict_of(contents, each) == "faster")
              for each in contents.gains
              if each.metric == contents.drawn_metric and is_claimed(contents, each)]  # fmt: skip
    names = {"network": pl.String, "comparison": pl.String, "is_faster": pl.Boolean}
    found = pl.DataFrame(claims, schema=names, orient="row")
    compared = (
        compared.join(found, on=["network", "comparison"], how="left")
        .with_columns(claimed=(pl.col("is_faster") == (pl.col("improvement") > 0)).fill_null(False))
        .drop("is_faster")
    )
    return compared.sort("comparison", "rate_mbit_s", "rtt_ms")


def nine_networks(contents: StudyResults) -> pl.DataFrame:
    """Return figure 5-1: sites' median load times on three rates by three RTTs, and unshaped.

    The optimal time of a site is the smallest of the stacks' medians on the unshaped network.
    """
    medians, grid = site_medians(contents), grid_of(contents.planned.networks)
    if not medians.height or not grid.height:
        return pl.DataFrame()
    rates = _three(grid["rate_mbit_s"].unique().to_list(), RATES_MBIT_S)
    rtts = _three(grid["rtt_ms"].unique().to_list(), RTTS_MS)
    chosen = grid.filter(pl.col("rate_mbit_s").is_in(rates), pl.col("rtt_ms").is_in(rtts))
    chosen = chosen.sort("rate_mbit_s", "rtt_ms")
    columns = ["network", "stack", "site", "seconds"]
    rows = chosen.join(medians, on="network", maintain_order="left_right").select(columns)
    unshaped = medians.filter(network=UNSHAPED)
    optimal = unshaped.group_by("site", maintain_order=True).agg(pl.col("seconds").min())
    beside = chosen.select("network").join(optimal, how="cross")
    beside = beside.with_columns(stack=pl.lit(OPTIMAL)).select(columns)
    place = {name: position for position, name in enumerate(chosen["network"])}
    both = pl.concat([rows, beside])
    return both.sort(pl.col("network").replace_strict(place), maintain_order=True)


def grid_of(networks: Sequence[Network]) -> pl.DataFrame:
    """Return the networks that span a grid, if there is one: `network`, `rate_mbit_s`, `rtt_ms`.

    They are alike in all but rate and round trip: in loss, in the ratio of the rates up and down,
    and in their queue, a time or one round trip. Each shares its rate with one at another round
    trip, and its round trip with one at another rate, so that a lone `dsl` is not part of a grid.
    Of several grids it is the largest; there is none if two are as large, or if two networks have
    the same place.
    """
    alike: dict[object, list[Network]] = {}
    for network in networks:
        if network.is_plain and network.name != UNSHAPED:
            for kind in network.grid_kinds():
                alike.setdefault(kind, []).append(network)
    found = [_keep_crossed(places(members)) for members in alike.values()]
    grids = sorted(found, key=lambda grid: -grid.height)
    if not grids or (len(grids) > 1 and grids[0].height == grids[1].height):
        return places(())
    clear = grids[0].height == grids[0].unique(["rate_mbit_s", "rtt_ms"]).height
    return grids[0] if clear else grids[0].clear()


def _keep_crossed(grid: pl.DataFrame) -> pl.DataFrame:
    """Drop networks until each shares its rate, and its round trip, with another that remains."""
    while True:
        rates, rtts = pl.col("rate_mbit_s").n_unique(), pl.col("rtt_ms").n_unique()
        kept = grid.filter((rates.over("rtt_ms") > 1) & (rtts.over("rate_mbit_s") > 1))
        if kept.height == grid.height:
            return kept
        grid = kept


def whole_grid(networks: Sequence[Network]) -> pl.DataFrame:
    """Return `grid_of` without rates that lack some round trips, as figure 5-1's 24 Mbit/s does."""
    grid = grid_of(networks)
    rtts = pl.col("rtt_ms").n_unique().over("rate_mbit_s")
    return grid.filter(rtts == rtts.max())


def _three(levels: Sequence[float], wanted: Sequence[float]) -> list[float]:
    ordered = sorted(levels)
    if set(wanted) <= set(ordered):
        return list(wanted)
    return [ordered[0], ordered[len(ordered) // 2], ordered[-1]]
