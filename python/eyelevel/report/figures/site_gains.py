"""Table 5.1 and section 5.2 of Das 2014: which sites gain, and which attributes predict it.

The rows behind figures 5-1 and 5-2 of Das 2014: a grid of rates by round trips. The data for the
figures of Das 2014: medians of loads, and the networks' positions.
"""

import math
from collections.abc import Sequence

import polars as pl

from eyelevel.analysis.claims import is_claimed, verdict_of
from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL, Estimate
from eyelevel.analysis.stats.line import fit_line
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.blocks import with_timeouts
from eyelevel.plan.networks.network import Network
from eyelevel.plan.networks.presets import UNSHAPED
from eyelevel.report.charts.paper import OPTIMAL

EXTREMES = 10
ATTRIBUTES = (
    "server_addresses", "objects", "mean_object_bytes", "encoded_bytes", "https_share",
)  # fmt: skip
LARGER, SMALLER = "mean of the highest", "mean of the lowest"
CHANGE = "lowest over highest"


def site_attributes(results: StudyResults) -> pl.DataFrame:
    """Return one row per site, medians of its counted loads: `origins` and ATTRIBUTES.

    `https_share` is the share of bytes over TLS: the largest of the stacks' medians.
    """
    secure = (1 - pl.col("cleartext_share")).median()
    by_stack = results.blocks.kept.group_by("site", "stack").agg(secure.alias("https_share"))
    https = by_stack.group_by("site").agg(pl.col("https_share").max())
    medians = pl.col("server_addresses", "origins", "objects", "encoded_bytes").median()
    sites = results.blocks.kept.group_by("site").agg(medians).join(https, on="site")
    mean = pl.when(pl.col("objects") > 0).then(pl.col("encoded_bytes") / pl.col("objects"))
    return sites.with_columns(mean_object_bytes=mean)


def site_gains(results: StudyResults) -> pl.DataFrame:
    """Return the mean `ratio_of_means` over networks by comparison and site, with site attributes.

    `networks` counts the networks that are averaged, `networks_undetermined` those without a gain.
    With any of these the mean is null, as that over the others would be another gain.
    """
    primary, counted = results.drawn_metric, _list_averaged_networks(results)
    cells = [
        (str(cell.comparison), cell.site, cell.ratio_of_means.value)
        for cell in results.cells
        if cell.pairs and cell.metric == primary and cell.network in counted
    ]
    schema = {"comparison": pl.String, "site": pl.String, "ratio_of_means": pl.Float64}
    rows = pl.DataFrame(cells, schema=schema, orient="row")
    lost = pl.col("ratio_of_means").null_count()
    gains = rows.group_by("comparison", "site").agg(
        ratio_of_means=pl.when(lost == 0).then(pl.col("ratio_of_means").mean()),
        networks=pl.len(),
        networks_undetermined=lost,
    )
    return gains.join(site_attributes(results), on="site", how="left")


def _list_averaged_networks(results: StudyResults) -> set[str]:
    """Return the networks to average over: the plan's grid, as in Das; else all shaped ones."""
    names = {network.name for network in results.plan.networks}
    return {*_whole_grid(results.plan.networks)["network"]} or names - {UNSHAPED} or names


def extremes(results: StudyResults) -> pl.DataFrame:
    """Return table 5.1: by comparison the ten sites with the lowest and the highest gains.

    With fewer than twenty sites, either group is half of them. Up to ten sites with undetermined
    gains follow; `sites_undetermined` counts all of these. Three rows are last: the attributes'
    means of either group, and the lowest's as multiples of the highest's.
    """
    every = site_gains(results)
    parts = []
    for comparison in results.comparisons:
        own = every.filter(comparison=str(comparison)).sort(
            "ratio_of_means", "site", nulls_last=True
        )
        if not own.height:
            continue
        known = own.filter(pl.col("ratio_of_means").is_not_null())
        unknown = own.filter(pl.col("ratio_of_means").is_null())
        some = min(EXTREMES, known.height // 2)
        middle = known.slice(some, known.height - 2 * some)
        lowest, highest = known.head(some), known.tail(some)
        groups = [_group(lowest, "lowest"), _group(highest, "highest")]
        if known.height < 2 * EXTREMES:
            groups.insert(1, _group(middle, "between"))
        groups.append(_group(unknown.head(EXTREMES), "undetermined"))
        if some:
            groups += _changes(str(comparison), lowest, highest)
        together = pl.concat(groups, how="diagonal_relaxed")
        parts.append(together.with_columns(sites_undetermined=pl.lit(unknown.height)))
    if not parts:
        return pl.DataFrame()
    first = ("comparison", "group", "site", "ratio_of_means")
    return pl.concat(parts, how="diagonal_relaxed").select(*first, pl.exclude(first))


def _group(rows: pl.DataFrame, group: str) -> pl.DataFrame:
    return rows.with_columns(group=pl.lit(group))


def _changes(comparison: str, lowest: pl.DataFrame, highest: pl.DataFrame) -> list[pl.DataFrame]:
    names = ("ratio_of_means", "origins", *ATTRIBUTES)
    of_lowest, of_highest = (
        part.select(pl.col(names).cast(pl.Float64).mean()) for part in (lowest, highest)
    )
    change = {
        name: _over(of_lowest[name][0], of_highest[name][0]) for name in ("origins", *ATTRIBUTES)
    }
    rows = [(SMALLER, of_lowest), (LARGER, of_highest), (CHANGE, pl.DataFrame([change]))]
    return [
        row.with_columns(pl.lit(comparison).alias("comparison"), pl.lit(name).alias("group"))
        for name, row in rows
    ]


def _over(one: float | None, other: float | None) -> float | None:
    return one / other if one is not None and other else None


def attribute_lines(results: StudyResults) -> pl.DataFrame:
    """Return how well each attribute alone predicts sites' gains, by comparison, the best first.

    Each is a line of ln(1 + `site_gains`'s ratio of means) on log2 of the attribute (the https
    share as it is). `change` is the share by which times change, against the reference's, with each
    doubling (from none to all https). Sites without a gain are left out and counted.
    """
    every = site_gains(results)
    parts = []
    for comparison in results.comparisons:
        table = lines_of(every.filter(comparison=str(comparison)))
        if table.height:
            parts.append(table.with_columns(pl.lit(str(comparison)).alias("comparison")))
    if not parts:
        return pl.DataFrame()
    return pl.concat(parts, how="diagonal_relaxed").select("comparison", pl.exclude("comparison"))


def lines_of(sites: pl.DataFrame) -> pl.DataFrame:
    """Return `attribute_lines` for one comparison's sites, the best first; no rows without a line.

    `best` is the largest `r_squared_held_out`, if it is above zero and its slope is significant at
    5 % after Bonferroni over the attributes: of five attributes that are unrelated to the gains,
    the largest is above zero in more than half of studies
    (docs/decisions/0030-descriptive-analyses.md).
    """
    table = pl.DataFrame([_line(sites, name) for name in ATTRIBUTES], infer_schema_length=None)
    if table["r_squared"].null_count() == table.height:
        return table.clear()
    held, p_value = pl.col("r_squared_held_out"), pl.col("change_p").cast(pl.Float64)
    best = (held == held.max()) & (held > 0) & (p_value * len(ATTRIBUTES) <= SIGNIFICANCE_LEVEL)
    return table.with_columns(best=best.fill_null(value=False)).sort(
        "r_squared_held_out", descending=True, nulls_last=True
    )


def _line(sites: pl.DataFrame, name: str) -> dict[str, object]:
    known = sites.filter(pl.col("ratio_of_means") > -1, pl.col(name).is_not_null())
    if name != "https_share":
        known = known.filter(pl.col(name) > 0)
    x = known[name].cast(pl.Float64) if name == "https_share" else known[name].log(2)
    line = fit_line(x.to_numpy(), known["ratio_of_means"].log1p().to_numpy())
    slope = line.slope
    value, low, high = (
        None if each is None else math.expm1(each) for each in (slope.value, slope.low, slope.high)
    )
    change = Estimate(value, low, high, slope.p, n=slope.n, reason=slope.reason)
    return {
        "attribute": name,
        "sites": known.height,
        "sites_left_out": sites.height - known.height,
        **change.as_columns("change"),
        "r_squared": line.r_squared,
        "r_squared_held_out": line.r_squared_held_out,
    }


RATES_MBIT_S = (1.0, 14.0, 24.0)
RTTS_MS = (30.0, 120.0, 300.0)
"""The axes of figure 5-1; for other grids, the lowest, middle and highest values replace them."""


def improvements(results: StudyResults) -> pl.DataFrame:
    """Return figure 5-2: (reference - stack) / reference of medians over sites, by rate and RTT.

    Cells without a finite value are absent, as where half of the sites timed out over a stack.
    `claimed`: the gain's verdict has the same direction; all others are drawn without colour.
    """
    medians = site_medians(results)
    grid = _whole_grid(results.plan.networks)
    if not medians.height or not grid.height:
        return pl.DataFrame()
    typical = medians.group_by("network", "stack").agg(pl.col("seconds").median(), sites=pl.len())
    pairs_compared = pl.DataFrame(
        [(each.stack, each.reference, str(each)) for each in results.comparisons],
        schema=dict.fromkeys(("stack", "reference", "comparison"), pl.String),
        orient="row",
    )
    of_reference = typical.select("network", reference="stack", reference_seconds="seconds")
    joined = typical.join(pairs_compared, on="stack").join(
        of_reference, on=["network", "reference"]
    )
    better = (pl.col("reference_seconds") - pl.col("seconds")) / pl.col("reference_seconds")
    compared = joined.join(grid, on="network").with_columns(improvement=better)
    compared = compared.filter(pl.col("improvement").is_finite())
    claims = [(each.network, str(each.comparison), verdict_of(results, each) == "faster")
              for each in results.gains
              if each.metric == results.drawn_metric and is_claimed(results, each)]  # fmt: skip
    names = {"network": pl.String, "comparison": pl.String, "is_faster": pl.Boolean}
    found = pl.DataFrame(claims, schema=names, orient="row")
    compared = (
        compared.join(found, on=["network", "comparison"], how="left")
        .with_columns(claimed=(pl.col("is_faster") == (pl.col("improvement") > 0)).fill_null(False))
        .drop("is_faster")
    )
    return compared.sort("comparison", "rate_mbit_s", "rtt_ms")


def nine_networks(results: StudyResults) -> pl.DataFrame:
    """Return figure 5-1: sites' median load times on three rates by three RTTs, and unshaped.

    The optimal time of a site is the smallest of the stacks' medians on the unshaped network.
    """
    medians, grid = site_medians(results), grid_of(results.plan.networks)
    if not medians.height or not grid.height:
        return pl.DataFrame()
    rates = _select_three(grid["rate_mbit_s"].unique().to_list(), RATES_MBIT_S)
    rtts = _select_three(grid["rtt_ms"].unique().to_list(), RTTS_MS)
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


def _whole_grid(networks: Sequence[Network]) -> pl.DataFrame:
    """Return `grid_of` without rates that lack some round trips, as figure 5-1's 24 Mbit/s does."""
    grid = grid_of(networks)
    rtts = pl.col("rtt_ms").n_unique().over("rate_mbit_s")
    return grid.filter(rtts == rtts.max())


def _select_three(levels: Sequence[float], wanted: Sequence[float]) -> list[float]:
    ordered = sorted(levels)
    if set(wanted) <= set(ordered):
        return list(wanted)
    return [ordered[0], ordered[len(ordered) // 2], ordered[-1]]


def places(networks: Sequence[Network]) -> pl.DataFrame:
    """Return the networks' coordinates: `network`, `rate_mbit_s` (down), `rtt_ms`."""
    rows = [(each.name, each.down_mbit_s, float(each.rtt_ms_min)) for each in networks]
    columns = {"network": pl.String, "rate_mbit_s": pl.Float64, "rtt_ms": pl.Float64}
    return pl.DataFrame(rows, schema=columns, orient="row")


def site_medians(results: StudyResults) -> pl.DataFrame:
    """Return the median load in seconds per network, site and stack; a timeout counts as infinite.

    A site that times out with a stack stays among that stack's sites: dropping it would favour the
    stack.
    """
    metric = results.drawn_metric
    return (
        results.blocks.kept.with_columns(seconds=with_timeouts(metric) / 1e3)
        .filter(pl.col("seconds").is_not_null())
        .group_by("network", "site", "stack", maintain_order=True)
        .agg(pl.col("seconds").median())
    )


def single_objects(results: StudyResults) -> pl.DataFrame:
    """Return quartiles of the load times of synthetic sites of one object, by size and stack."""
    metric = pl.col("page_load_time_ms")
    kept = results.blocks.kept.filter(
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
