"""The rows behind the figures of Das 2014: medians of loads, by network and stack."""

from collections.abc import Sequence

import polars as pl

from eyelevel.analysis.claims import is_claimed, verdict_of
from eyelevel.analysis.study import Contents
from eyelevel.analysis.trials.blocks import with_timeouts
from eyelevel.figures.das import OPTIMAL
from eyelevel.networks.presets import UNSHAPED
from eyelevel.traces.rates import rates_of
from eyelevel.traces.synth import synthesise

RATES_MBIT_S = (1.0, 14.0, 24.0)
RTTS_MS = (30.0, 120.0, 300.0)
"""The axes of figure 5-1; another grid has its lowest, middle and highest in their place."""

RATE_BIN_MS = 500


def improvements(contents: Contents) -> pl.DataFrame:
    """Figure 5-2: (reference - stack) / reference of the medians over sites, by rate and RTT.

    There is none if half of the sites never came over either stack. `claimed`: the gain's verdict
    says the same, faster or slower; all else has no colour.
    """
    medians = site_medians(contents)
    grid = _whole_rows(_grid(contents))
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
              for each in contents.gains if is_claimed(contents, each)]  # fmt: skip
    names = {"network": pl.String, "comparison": pl.String, "is_faster": pl.Boolean}
    found = pl.DataFrame(claims, schema=names, orient="row")
    compared = (
        compared.join(found, on=["network", "comparison"], how="left")
        .with_columns(claimed=(pl.col("is_faster") == (pl.col("improvement") > 0)).fill_null(False))
        .drop("is_faster")
    )
    return compared.sort("comparison", "rate_mbit_s", "rtt_ms")


def nine_networks(contents: Contents) -> pl.DataFrame:
    """Figure 5-1: sites' median load times on three rates by three RTTs, and unshaped."""
    medians, grid = site_medians(contents), _grid(contents)
    if not medians.height or not grid.height:
        return pl.DataFrame()
    rates = _three(grid["rate_mbit_s"].unique().to_list(), RATES_MBIT_S)
    rtts = _three(grid["rtt_ms"].unique().to_list(), RTTS_MS)
    chosen = grid.filter(pl.col("rate_mbit_s").is_in(rates), pl.col("rtt_ms").is_in(rtts))
    chosen = chosen.sort("rate_mbit_s", "rtt_ms")
    columns = ["network", "stack", "site", "seconds"]
    rows = chosen.join(medians, on="network", maintain_order="left_right").select(columns)
    optimal = medians.filter(network=UNSHAPED, stack=contents.stacks[0])
    beside = chosen.select("network").join(optimal.drop("network"), how="cross")
    beside = beside.with_columns(stack=pl.lit(OPTIMAL)).select(columns)
    place = {name: position for position, name in enumerate(chosen["network"])}
    both = pl.concat([rows, beside])
    return both.sort(pl.col("network").replace_strict(place), maintain_order=True)


def varying_networks(contents: Contents) -> pl.DataFrame:
    """Figure 6-1: sites' median load times where a link's rate varies."""
    names = [
        network.name for network in contents.planned.networks if network.course() != "constant"
    ]
    return _ordered(site_medians(contents), names)


def controllers(contents: Contents) -> pl.DataFrame:
    """Figures 6-3 and 6-4: stacks of one HTTP version and several congestion controllers."""
    kinds: dict[str, dict[str, str]] = {}
    for stack in contents.planned.stacks:
        of_version = kinds.setdefault(stack.protocol, {})
        of_version.setdefault(stack.controller, stack.name)
    several = [by_controller for by_controller in kinds.values() if len(by_controller) > 1]
    stacks = [name for by_controller in several for name in by_controller.values()]
    rows = varying_networks(contents)
    return rows.filter(pl.col("stack").is_in(stacks)) if rows.height else rows


def rates_over_time(contents: Contents) -> pl.DataFrame:
    """Figure 6-2: the rates of made links in bins of half a second, each course once.

    A recorded trace's file is not part of a run; `eyelevel trace info FILE` describes it.
    """
    parts, seen = [], set()
    for network in contents.planned.networks:
        for direction, spec in (("down", network.synth_down), ("up", network.synth_up)):
            if spec is None or spec in seen:
                continue
            seen.add(spec)
            series = rates_of(synthesise(spec), RATE_BIN_MS)
            course = f"{network.name} {direction}: {spec.model}, seed {spec.seed}"
            parts.append(
                pl.DataFrame(
                    {"course": course, "seconds": series.at_ms[:-1] / 1e3, "mbit_s": series.mbit_s}
                )
            )
    return pl.concat(parts) if parts else pl.DataFrame()


def site_medians(contents: Contents) -> pl.DataFrame:
    """One row a network, site and stack: the median of its loads in s, infinite for a timeout's.

    A site that a stack does not bring stays among that stack's sites, or it would look better.
    """
    metric = contents.primary_metric
    return (
        contents.blocks.kept.with_columns(seconds=with_timeouts(metric) / 1e3)
        .filter(pl.col("seconds").is_not_null())
        .group_by("network", "site", "stack", maintain_order=True)
        .agg(pl.col("seconds").median())
    )


def _grid(contents: Contents) -> pl.DataFrame:
    """The constant networks where they span rates and RTTs, else no rows."""
    rows = [
        (network.name, network.down_mbit_s, float(network.rtt_ms_min))
        for network in contents.planned.networks
        if network.is_plain and network.name != UNSHAPED
    ]
    grid = pl.DataFrame(rows, schema=["network", "rate_mbit_s", "rtt_ms"], orient="row")
    spans = grid.height and min(grid["rate_mbit_s"].n_unique(), grid["rtt_ms"].n_unique()) > 1
    # One network a square: of a plan with several at one place, a grid says nothing.
    clear = grid.height == grid.unique(["rate_mbit_s", "rtt_ms"]).height
    return grid if spans and clear else grid.clear()


def _whole_rows(grid: pl.DataFrame) -> pl.DataFrame:
    """Without rates that lack round trips of others, as figure 5-1's 24 Mbit/s beside the grid."""
    rtts = pl.col("rtt_ms").n_unique().over("rate_mbit_s")
    return grid.filter(rtts == rtts.max())


def _three(levels: Sequence[float], wanted: Sequence[float]) -> list[float]:
    ordered = sorted(levels)
    if set(wanted) <= set(ordered):
        return list(wanted)
    return [ordered[0], ordered[len(ordered) // 2], ordered[-1]]


def _ordered(rows: pl.DataFrame, networks: Sequence[str]) -> pl.DataFrame:
    order = pl.DataFrame({"network": networks}, schema={"network": pl.String})
    ordered = order.join(rows, on="network", maintain_order="left_right")
    return ordered.select("network", "stack", "site", "seconds")


def single_objects(contents: Contents) -> pl.DataFrame:
    """Quartiles of the load time of synthetic sites of one object."""
    metric = pl.col("page_load_time_ms")
    kept = contents.blocks.kept.filter(
        metric.is_not_null() & pl.col("site").str.starts_with("synthetic-1x")
    )
    size = pl.col("site").str.extract(r"synthetic-1x(\d+)-", 1).cast(pl.Int64)
    return (
        kept.with_columns(object_bytes=size)
        .group_by("object_bytes", "network", "stack", maintain_order=True)
        .agg(
            median_ms=metric.median(),
            lower_quartile_ms=metric.quantile(0.25, "linear"),
            upper_quartile_ms=metric.quantile(0.75, "linear"),
            loads=pl.len(),
        )
        .with_columns(size=pl.col("object_bytes").map_elements(_size, return_dtype=pl.String))
        .sort("object_bytes", "network", "stack")
    )


def _size(size_bytes: int) -> str:
    for unit, factor in (("MB", 10**6), ("kB", 10**3)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:g} {unit}"
    return f"{size_bytes} B"
