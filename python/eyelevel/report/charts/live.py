"""Figure 4-2 of Das 2014 with both its curves: live loads against replays (pure)."""

import altair as alt
import polars as pl

from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.chart import inline, specification

SIDES = ("live", "replay")
COLOURS = ("#a8341b", "#0b6b4b")
DASHES = ([1, 0], [4, 2])
"""Dash patterns that distinguish the sides without colour, as in grey print."""


def live_against_replay(rows: pl.DataFrame, columns: int = 2) -> JsonObject:
    """Return the share of loads that took at most a time, one panel per metric.

    `rows`: `metric` (a title; panels are in the rows' order), `side` (`live`, `replay`), `seconds`.
    """
    ranked = rows.sort("seconds", maintain_order=True).with_columns(
        share=pl.int_range(1, pl.len() + 1).over("metric", "side") / pl.len().over("metric", "side")
    )
    first = ranked.group_by("metric", "side", maintain_order=True).first()
    drawn = pl.concat([first.with_columns(share=pl.lit(0.0)), ranked])
    panels = rows["metric"].unique(maintain_order=True).to_list()
    chart = (
        alt.Chart(inline(drawn, "metric", "side", "seconds", "share"))
        .mark_line(interpolate="step-after", strokeWidth=1.5)
        .encode(
            x=alt.X(
                "seconds:Q",
                title="seconds",
                scale=alt.Scale(zero=False),
                axis=alt.Axis(tickCount=5),
            ),
            y=alt.Y(
                "share:Q",
                title="share of loads",
                axis=alt.Axis(format=".0%", tickCount=5),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=alt.Color(
                "side:N", scale=alt.Scale(domain=list(SIDES), range=list(COLOURS)), title=None
            ),
            strokeDash=alt.StrokeDash(
                "side:N", scale=alt.Scale(domain=list(SIDES), range=list(DASHES)), title=None
            ),
        )
        .properties(width=260, height=180)
    )
    facet = alt.Facet("metric:N", sort=panels, title=None)
    return specification(chart.facet(facet=facet, columns=columns).resolve_scale(x="independent"))
