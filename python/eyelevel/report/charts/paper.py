"""The figures of Wolsing et al. 2019: tables in, Vega-Lite specifications out; for print."""

from typing import Literal

import altair as alt
import polars as pl

from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.chart import inline, largest, layer_charts, specification

GAIN_AXIS = alt.Axis(format="+.0%", tickCount=5)
SHARE_AXIS = alt.Axis(format=".0%", tickCount=3)
# Shades of grey: a test of each site, not corrected, is no claim.
SIGNIFICANCE_COLOURS = {"mean lower": "#4f5b66", "neither": "#c9cecb", "mean higher": "#8c7f73"}
STEPS_MAX = 50
UNDETERMINED = {"undetermined": "#8a6d00"}
_OF_PANEL = ("network", "metric")


def gain_cdf(cells: pl.DataFrame, comparisons: list[str]) -> JsonObject:
    """Draw figure 3 (Wolsing et al. 2019): the share of sites with at most a gain.

    It is by network and metric. `cells`: `network`, `metric` (its title), `comparison`,
    `ratio_of_means` (share, null if undetermined), one row per site. Undetermined sites count in
    the share, so that their curve ends below one.
    """
    steps = inline(_steps(cells), *_OF_PANEL, "comparison", "ratio_of_means", "share")
    base = alt.Chart(steps)
    lines = base.mark_line(interpolate="step-after", strokeWidth=1.5).encode(
        x=alt.X("ratio_of_means:Q", title="ratio of means (left is faster)", axis=GAIN_AXIS),
        y=alt.Y("share:Q", title="share of sites", axis=SHARE_AXIS, scale=alt.Scale(domain=[0, 1])),
        color=_colour(comparisons),
    )
    zero = base.mark_rule(strokeDash=[3, 3], color="gray").encode(x=alt.datum(0))
    lost = cells["ratio_of_means"].null_count()
    note = f"{lost} of {cells.height} gains are undetermined: their curves end below 100 %"
    chart = layer_charts(zero, lines).properties(width=150, height=110)
    return _facets(chart, cells, note if lost else "")


def _steps(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the corners of the curves; with undetermined sites they extend to the panel's edge."""
    curve = (*_OF_PANEL, "comparison")
    sites = cells.group_by(curve, maintain_order=True).agg(
        sites=pl.len(), known=pl.col("ratio_of_means").count()
    )
    ranked = (
        cells.filter(pl.col("ratio_of_means").is_not_null())
        .sort("ratio_of_means")
        .with_columns(rank=pl.int_range(1, pl.len() + 1).over(curve))
        .join(sites, on=curve, maintain_order="left")
    )
    # A step of a pixel is as fine as print can show.
    every = (pl.col("known") - 1) // STEPS_MAX + 1
    last = pl.col("rank") == pl.col("known")
    corners = ranked.filter((pl.col("rank") % every == 0) | last | (pl.col("rank") == 1))
    first = ranked.filter(pl.col("rank") == 1).with_columns(rank=pl.lit(0))
    panels = ranked.group_by(_OF_PANEL).agg(
        low=pl.col("ratio_of_means").min(), high=pl.col("ratio_of_means").max()
    )
    short = sites.filter(pl.col("known") < pl.col("sites")).join(
        panels, on=_OF_PANEL, maintain_order="left"
    )
    edge = short.with_columns(ratio_of_means=pl.col("high"), rank=pl.col("known"))
    flat = short.filter(pl.col("known") == 0).with_columns(
        ratio_of_means=pl.col("low"), rank=pl.lit(0)
    )
    named = [*curve, "ratio_of_means", (pl.col("rank") / pl.col("sites")).alias("share")]
    return pl.concat([part.select(named) for part in (first, corners, edge, flat)])


def significance_shares(cells: pl.DataFrame, comparisons: list[str]) -> JsonObject:
    """Draw the shares of sites with a lower, higher or similar mean, by the published ANOVA.

    Its level is 0.01. `cells`: `network`, `metric`, `comparison`, `anova` (the verdict).
    Undetermined sites have a class of their own.
    """
    means = pl.when(pl.col("anova").is_in(["lower", "higher"])).then(
        pl.lit("mean ") + pl.col("anova")
    )
    lost = means.when(pl.col("anova") == "undetermined").then("anova")
    finding = lost.otherwise(pl.lit("neither")).alias("finding")
    rows = (
        cells.with_columns(finding)
        .group_by("network", "metric", "comparison", "finding")
        .len("sites")
    )
    colours = SIGNIFICANCE_COLOURS
    if "undetermined" in rows["finding"]:
        colours = colours | UNDETERMINED
    rank = {name: position for position, name in enumerate(colours)}
    rows = rows.with_columns(place=pl.col("finding").replace_strict(rank, return_dtype=pl.Int64))
    chart = (
        alt.Chart(inline(rows.sort("network", "metric", "comparison", "place")))
        .mark_bar()
        .encode(
            x=alt.X("sites:Q", stack="normalize", title="share of sites"),
            y=alt.Y("comparison:N", sort=comparisons, title=None),
            color=alt.Color(
                "finding:N",
                title=None,
                scale=alt.Scale(domain=list(colours), range=list(colours.values())),
            ),
            order=alt.Order("place:Q"),
        )
        .properties(width=150, height=22 * max(1, len(comparisons)))
    )
    return _facets(chart, cells)


def against_attribute(
    cells: pl.DataFrame, comparisons: list[str], attribute: str, title: str
) -> JsonObject:
    """Draw the difference against an attribute of the site, in s and in round trips.

    As in slide 14 of Wolsing et al. `cells`: `network`, `comparison`, `site`, `difference_ms`,
    `difference_rtts`, and `attribute`; rows with a null in the last three are counted and not
    drawn.
    """
    rows = cells.with_columns(difference_s=pl.col("difference_ms") / 1e3)
    scales = {"difference_s": "difference in s", "difference_rtts": "difference in round trips"}
    charts = []
    # The same text in both, so that the specification has it once.
    base = alt.Chart(inline(rows, "network", "comparison", "site", *scales, attribute))
    for value, axis in scales.items():
        drawn = rows.drop_nulls([value, attribute])
        dots = base.mark_point(filled=True, opacity=0.7).encode(
            x=alt.X(f"{attribute}:Q", title=title, axis=alt.Axis(tickCount=4, format="~s")),
            y=alt.Y(f"{value}:Q", title=axis),
            color=_colour(comparisons, "top"),
        )
        zero = base.mark_rule(strokeDash=[3, 3], color="gray").encode(y=alt.datum(0))
        chart = layer_charts(zero, dots).properties(width=180, height=140)
        order = cells["network"].unique(maintain_order=True).to_list()
        panels = chart.facet(facet=alt.Facet("network:N", title=None, sort=order), columns=3)
        panels = panels.resolve_scale(y="independent").transform_filter(
            f"isValid(datum.{value}) && isValid(datum.{attribute})"
        )
        if lost := cells.height - drawn.height:
            why = "undetermined, or without round trips to count in"
            panels = panels.properties(
                title=_note(f"{lost} of {cells.height} differences are not drawn: {why}")
            )
        if drawn.height:
            charts.append(panels)
    return specification(alt.vconcat(*charts))


def mean_gains(rows: pl.DataFrame, comparisons: list[str]) -> JsonObject:
    """Draw mean gains over the sites with intervals (Wolsing et al. 2019, section 4).

    `rows`: `network`, `metric` (its title), `comparison`, `ratio_of_means`, `ratio_of_means_low`,
    `ratio_of_means_high` (null if none; a missing value is marked).
    """
    plain = alt.Chart(inline(rows))
    base = plain.encode(
        y=alt.Y("comparison:N", sort=comparisons, title=None), color=_colour(comparisons)
    )
    axis = alt.Axis(format="+.0%", tickCount=4)
    known = base.transform_filter("isValid(datum.ratio_of_means_low)")
    interval = known.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("ratio_of_means_low:Q", title="ratio of means (left is faster)", axis=axis),
        x2="ratio_of_means_high:Q",
    )
    dot = (
        base.transform_filter("isValid(datum.ratio_of_means)")
        .mark_point(filled=True, size=35, opacity=1)
        .encode(x=alt.X("ratio_of_means:Q", axis=axis))
    )
    unknown = base.transform_filter("!isValid(datum.ratio_of_means)").mark_text(
        align="left", fontSize=8
    )
    note = unknown.encode(x=alt.value(4), text=alt.value("undetermined"), color=alt.value("gray"))
    zero = plain.mark_rule(strokeDash=[3, 3], color="gray").encode(x=alt.datum(0))
    size = {"width": 150, "height": 20 * max(1, len(comparisons))}
    return _facets(layer_charts(zero, interval, dot, note).properties(**size), rows)


def single_object(loads: pl.DataFrame, stacks: list[str]) -> JsonObject:
    """Draw the load time of one object (Das 2014, figure 4-3; Wolsing et al. 2019, figure 2).

    `loads`: `network`, `object_bytes`, `size` (in words), `stack`, `median_ms`,
    `lower_quartile_ms`, `upper_quartile_ms`. There is a panel per size and network, each with its
    own scale.
    """
    panels = []
    for size in loads.sort("object_bytes")["size"].unique(maintain_order=True):
        row = [
            _object_panel(part, stacks, f"{size}, {part['network'][0]}")
            for part in loads.filter(size=size).partition_by("network", maintain_order=True)
        ]
        panels.append(alt.hconcat(*row))
    return specification(alt.vconcat(*panels))


def _object_panel(rows: pl.DataFrame, stacks: list[str], title: str) -> alt.LayerChart:
    columns = ("stack", "median_ms", "lower_quartile_ms", "upper_quartile_ms")
    base = alt.Chart(inline(rows, *columns), title=title).encode(
        y=alt.Y("stack:N", sort=stacks, title=None)
    )
    highest = largest(rows["upper_quartile_ms"])
    x_axis = alt.X(
        "median_ms:Q", title="page load time in ms", scale=alt.Scale(domain=[0, 1.25 * highest])
    )
    bars = base.mark_bar(color="#7fa8a0").encode(x=x_axis)
    spread = base.mark_rule().encode(x="lower_quartile_ms:Q", x2="upper_quartile_ms:Q")
    numbers = base.mark_text(align="left", dx=4).encode(
        x=alt.X("upper_quartile_ms:Q"), text=alt.Text("median_ms:Q", format=".4~s")
    )
    return layer_charts(bars, spread, numbers).properties(width=280, height=28 * len(stacks))


def _facets(chart: alt.LayerChart | alt.Chart, cells: pl.DataFrame, title: str = "") -> JsonObject:
    panels = chart.facet(
        row=alt.Row(
            "network:N", title=None, sort=cells["network"].unique(maintain_order=True).to_list()
        ),
        column=alt.Column(
            "metric:N", title=None, sort=cells["metric"].unique(maintain_order=True).to_list()
        ),
    )
    if title:
        panels = panels.properties(title=_note(title))
    return specification(panels)


def _note(text: str) -> alt.TitleParams:
    return alt.TitleParams(text, anchor="start", fontSize=10, fontWeight="normal")


def _colour(comparisons: list[str], place: Literal["top", "right"] = "right") -> alt.Color:
    """Return one colour per comparison, the same in every chart."""
    legend = alt.Legend(values=comparisons, columns=3, labelLimit=300, orient=place)
    scale = alt.Scale(domain=comparisons)
    return alt.Color("comparison:N", scale=scale, legend=legend, title=None)
