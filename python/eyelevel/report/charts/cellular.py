"""The figures of Das 2014, chapter 6: tables in, Vega-Lite specifications out; for print."""

from collections.abc import Sequence
from typing import cast

import altair as alt
import polars as pl

from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.chart import inline, layer_charts, specification
from eyelevel.report.charts.das import curve_steps

COLUMNS = 3  # of panels: the thesis's round trips of 30, 120 and 300 ms
QUANTILES = (0.5, 0.95)


def link_curves(rows: pl.DataFrame, stacks: Sequence[str], metric: str) -> JsonObject:
    """Draw figures 6-1, 6-3 and 6-4: over sites, the share with at most a median load time.

    There is a row of panels per link, and a panel per round trip; dots are the median and the 95th
    percentile over sites, as in section 6.3. `rows`: `link`, `course` (whether it is recorded),
    `rtt_ms`, `network`, `stack`, `site`, `seconds` (infinite for a timeout, whose site counts in
    the share). `stacks`: all of the study, which determine the colours.
    """
    links = [_link(part, stacks, metric) for part in rows.partition_by("link", maintain_order=True)]
    return specification(alt.vconcat(*links, spacing=24).resolve_scale(color="shared"))


def _link(rows: pl.DataFrame, stacks: Sequence[str], metric: str) -> alt.FacetChart:
    place = rows.select("network", "rtt_ms").unique(maintain_order=True)
    curves = curve_steps(rows).with_columns(dot=pl.lit(0))
    drawn = pl.concat([curves, _dots(rows, curves.columns)]).join(place, on="network")
    several = place["rtt_ms"].n_unique() < place.height  # round trips alone do not identify panels
    panel = pl.format("{}, {} ms", "network", "rtt_ms") if several else pl.format("{} ms", "rtt_ms")
    names = place.with_columns(panel=panel.str.replace(r"\.0 ms$", " ms"))
    drawn = drawn.join(names.select("network", "panel"), on="network").drop("network", "rtt_ms")
    present = set(rows["stack"])
    legend = alt.Legend(values=[name for name in stacks if name in present], orient="top")
    base = alt.Chart(inline(drawn)).encode(
        x=alt.X("seconds:Q", title=f"{metric} in s", axis=alt.Axis(tickCount=4)),
        y=alt.Y("share:Q", title="share of sites", scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format=".0%", values=[0, *QUANTILES])),
        color=alt.Color("stack:N", scale=alt.Scale(domain=list(stacks)), legend=legend, title=None),
    )  # fmt: skip
    lines = base.transform_filter("datum.dot == 0").mark_line(
        interpolate="step-after", strokeWidth=1.5
    )
    dots = base.transform_filter("datum.dot == 1").mark_point(filled=True, size=40, opacity=1)
    course = rows["course"][0]
    panels = (
        layer_charts(lines, dots)
        .properties(width=200, height=140)
        .facet(
            facet=alt.Facet("panel:N", sort=names["panel"].to_list(), title=None),
            columns=COLUMNS,
        )
        .resolve_scale(x="independent")
    )
    title = alt.TitleParams(f"{rows['link'][0]} ({course})", anchor="start")
    return cast(alt.FacetChart, panels.properties(title=title))


def _dots(rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Return the quantiles of each curve by the inverse distribution, except for timeouts."""
    parts = []
    for share in QUANTILES:
        at = (pl.len() * share - 1e-9).ceil().cast(pl.Int64) - 1
        of_share = rows.group_by("network", "stack", maintain_order=True).agg(
            pl.col("seconds").sort().get(at), share=pl.lit(share), dot=pl.lit(1)
        )
        parts.append(of_share.filter(pl.col("seconds").is_finite()).select(columns))
    return pl.concat(parts)


def trace_rates(rows: pl.DataFrame) -> JsonObject:
    """Draw figure 6-2: the rate of a link over time.

    `rows`: `course` (the link's name), `seconds`, `mbit_s`.
    """
    chart = (
        alt.Chart(inline(rows, "course", "seconds", "mbit_s"))
        .mark_line(interpolate="step-after", strokeWidth=1)
        .encode(
            x=alt.X("seconds:Q", title="seconds"),
            y=alt.Y("mbit_s:Q", title="Mbit/s"),
        )
        .properties(width=420, height=120)
    )
    order = rows["course"].unique(maintain_order=True).to_list()
    panels_chart = chart.facet(facet=alt.Facet("course:N", title=None, sort=order), columns=1)
    return specification(panels_chart.resolve_scale(y="independent"))
