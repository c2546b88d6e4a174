"""Table 5.1 and section 5.2 of Das 2014: which sites gain, and which attributes predict it."""

import math

import polars as pl

from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL, Estimate
from eyelevel.analysis.stats.line import fit_line
from eyelevel.analysis.study import StudyResults
from eyelevel.plan.networks.presets import UNSHAPED
from eyelevel.report.figures.grid import whole_grid

EXTREMES = 10
ATTRIBUTES = (
    "server_addresses", "objects", "mean_object_bytes", "encoded_bytes", "https_share",
)  # fmt: skip
LARGER, SMALLER = "mean of the highest", "mean of the lowest"
CHANGE = "lowest over highest"


def site_attributes(contents: StudyResults) -> pl.DataFrame:
    """Return one row per site, medians of its counted loads: `origins` and ATTRIBUTES.

    `https_share` is the share of bytes over TLS: the largest of the stacks' medians.
    """
    secure = (1 - pl.col("cleartext_share")).median()
    by_stack = contents.blocks.kept.group_by("site", "stack").agg(secure.alias("https_share"))
    https = by_stack.group_by("site").agg(pl.col("https_share").max())
    of_loads = pl.col("server_addresses", "origins", "objects", "encoded_bytes").median()
    sites = contents.blocks.kept.group_by("site").agg(of_loads).join(https, on="site")
    mean = pl.when(pl.col("objects") > 0).then(pl.col("encoded_bytes") / pl.col("objects"))
    return sites.with_columns(mean_object_bytes=mean)


def site_gains(contents: StudyResults) -> pl.DataFrame:
    """Return the mean `ratio_of_means` over networks by comparison and site, with site attributes.

    `networks` counts the networks that are averaged, `networks_undetermined` those without a gain.
    With any of these the mean is null, as that over the others would be another gain.
    """
    primary, counted = contents.drawn_metric, _networks_averaged(contents)
    cells = [
        (str(cell.comparison), cell.site, cell.ratio_of_means.value)
        for cell in contents.cells
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
    return gains.join(site_attributes(contents), on="site", how="left")


def _networks_averaged(contents: StudyResults) -> set[str]:
    """Return the networks to average over: the plan's grid, as in Das; else all shaped ones."""
    names = {network.name for network in contents.planned.networks}
    return {*whole_grid(contents.planned.networks)["network"]} or names - {UNSHAPED} or names


def extremes(contents: StudyResults) -> pl.DataFrame:
    """Return table 5.1: by comparison the ten sites with the lowest and the highest gains.

    With fewer than twenty sites, either group is half of them. Up to ten sites with undetermined
    gains follow; `sites_undetermined` counts all of these. Three rows are last: the attributes'
    means of either group, and the lowest's as multiples of the highest's.
    """
    every = site_gains(contents)
    parts = []
    for asked in contents.comparisons:
        own = every.filter(comparison=str(asked)).sort("ratio_of_means", "site", nulls_last=True)
        if not own.height:
            continue
        known = own.filter(pl.col("ratio_of_means").is_not_null())
        unknown = own.filter(pl.col("ratio_of_means").is_null())
        some = min(EXTREMES, known.height // 2)
        middle = known.slice(some, known.height - 2 * some)
        lowest, highest = known.head(some), known.tail(some)
        shown = [_group(lowest, "lowest"), _group(highest, "highest")]
        if known.height < 2 * EXTREMES:
            shown.insert(1, _group(middle, "between"))
        shown.append(_group(unknown.head(EXTREMES), "undetermined"))
        if some:
            shown += _changes(str(asked), lowest, highest)
        together = pl.concat(shown, how="diagonal_relaxed")
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


def attribute_lines(contents: StudyResults) -> pl.DataFrame:
    """Return how well each attribute alone predicts sites' gains, by comparison, the best first.

    Each is a line of ln(1 + `site_gains`'s ratio of means) on log2 of the attribute (the https
    share as it is). `change` is the share by which times change, against the reference's, with each
    doubling (from none to all https). Sites without a gain are left out and counted.
    """
    every = site_gains(contents)
    parts = []
    for asked in contents.comparisons:
        table = lines_of(every.filter(comparison=str(asked)))
        if table.height:
            parts.append(table.with_columns(pl.lit(str(asked)).alias("comparison")))
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
    held, told = pl.col("r_squared_held_out"), pl.col("change_p").cast(pl.Float64)
    best = (held == held.max()) & (held > 0) & (told * len(ATTRIBUTES) <= SIGNIFICANCE_LEVEL)
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
