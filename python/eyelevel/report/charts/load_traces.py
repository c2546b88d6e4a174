"""Typical loads over time: bytes in flight, and requests."""

import altair as alt
import polars as pl

from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.chart import inline, largest, layer_charts, specification

WIDTH_PX = 420
HEIGHT_PX = 130
ROW_PX = 13


def downlink_chart(
    levels: pl.DataFrame, silences: pl.DataFrame, capacities: pl.DataFrame, stacks: list[str]
) -> JsonObject:
    """Return a panel per network: kilobytes in flight above, silences below.

    `levels`: `network`, `stack`, `at_s`, `kilobytes`; `silences`: `network`, `stack`, `start_s`,
    `end_s`; `capacities`: `network`, `what`, `kilobytes`. `stacks` determine the colours.
    """
    panels = []
    for network in levels["network"].unique(maintain_order=True):
        own = [each.filter(pl.col("network") == network) for each in (levels, silences, capacities)]
        panels.append(_panel(str(network), *own, stacks=stacks))
    return specification(alt.vconcat(*panels, spacing=28).resolve_scale(color="shared"))


def _panel(
    network: str,
    levels: pl.DataFrame,
    silences: pl.DataFrame,
    capacities: pl.DataFrame,
    *,
    stacks: list[str],
) -> alt.VConcatChart:
    present = [stack for stack in stacks if stack in levels["stack"]]
    last_s = float(levels["at_s"].max() or 0.0)  # type: ignore[arg-type]
    domain = alt.Scale(domain=[0, last_s], nice=False)
    colour = alt.Color("stack:N", scale=alt.Scale(domain=stacks), title=None)
    lines = (
        alt.Chart(inline(levels, "stack", "at_s", "kilobytes"))
        .mark_line(interpolate="step-after", strokeWidth=1.3)
        .encode(
            x=alt.X("at_s:Q", scale=domain, title=None, axis=alt.Axis(labels=False)),
            y=alt.Y("kilobytes:Q", title="kB in flight"),
            color=colour,
        )
    )
    limits = alt.Chart(inline(capacities, "what", "kilobytes")).encode(y="kilobytes:Q")
    rules = limits.mark_rule(strokeDash=[4, 3], color="gray")
    names = limits.mark_text(align="right", baseline="bottom", dx=-2, color="gray").encode(
        x=alt.datum(last_s), text="what:N"
    )
    gaps = (
        alt.Chart(inline(silences, "stack", "start_s", "end_s"))
        .mark_bar(height=ROW_PX - 4)
        .encode(
            x=alt.X("start_s:Q", scale=domain, title="seconds from navigation start"),
            x2="end_s:Q",
            y=alt.Y("stack:N", sort=present, scale=alt.Scale(domain=present), title=None),
            color=colour,
            tooltip=["stack:N", "start_s:Q", "end_s:Q"],
        )
        .properties(width=WIDTH_PX, height=alt.Step(ROW_PX))
    )
    title = alt.TitleParams(network, anchor="start", fontSize=12)
    above = layer_charts(lines, rules, names).properties(
        width=WIDTH_PX, height=HEIGHT_PX, title=title
    )
    below = "nothing in flight:"
    gaps = gaps.properties(title=alt.TitleParams(below, anchor="start", fontSize=11))
    return alt.vconcat(above, gaps, spacing=6)


OBJECT_ROW_PX = 13
PHASES = {
    "queued": "#d5d8da",
    "dns": "#0b8060",
    "connect": "#c4500a",
    "tls": "#a0468a",
    "wait": "#c9a227",
    "receive": "#0f6fb4",
}
NAME_PX_MAX = 170


def waterfall(rows: pl.DataFrame) -> JsonObject:
    """Return a bar per object, in the order of their start, with a panel per load.

    `rows`: `load` (the panel), `place` (from 0), `name`, `phase` (of PHASES), `start_s`, `end_s`,
    `is_critical`; a row without a place is a moment that a line marks by its name.
    """
    last_s = largest(rows["end_s"])
    domain = alt.Scale(domain=[0, last_s], nice=False)
    panels = []
    for (load,), of_load in rows.partition_by("load", as_dict=True, maintain_order=True).items():
        bars = of_load.filter(pl.col("place").is_not_null())
        moments = of_load.filter(pl.col("place").is_null())
        title = alt.TitleParams(str(load), anchor="start", fontSize=12)
        panels.append(
            layer_charts(*_bars(bars, domain), *_moments(moments)).properties(
                width=WIDTH_PX, height=alt.Step(OBJECT_ROW_PX), title=title
            )
        )
    return specification(alt.hconcat(*panels))


def _bars(bars: pl.DataFrame, domain: alt.Scale) -> tuple[alt.Chart, alt.Chart]:
    """Return the phases, and a frame around each object on the critical path."""
    named = bars.with_columns(
        name=pl.format(
            "{} {}{}",
            pl.col("place") + 1,
            "name",
            pl.when(pl.col("is_critical")).then(pl.lit(" \N{BLACK CIRCLE}")).otherwise(pl.lit("")),
        )
    )
    y = alt.Y(
        "name:N",
        sort=named["name"].unique(maintain_order=True).to_list(),
        title=None,
        axis=alt.Axis(labelLimit=NAME_PX_MAX),
    )
    x = alt.X("start_s:Q", title="seconds", scale=domain)
    colour = alt.Color(
        "phase:N", title=None, scale=alt.Scale(domain=list(PHASES), range=list(PHASES.values()))
    )
    phases = (
        alt.Chart(inline(named, "name", "phase", "start_s", "end_s"))
        .mark_bar(height=OBJECT_ROW_PX - 3)
        .encode(x=x, x2="end_s:Q", y=y, color=colour,
                tooltip=["name:N", "phase:N", "start_s:Q", "end_s:Q"])
    )  # fmt: skip
    critical = (
        named.filter("is_critical")
        .group_by("name", maintain_order=True)
        .agg(pl.col("start_s").min(), pl.col("end_s").max())
    )
    frame = (
        alt.Chart(inline(critical))
        .mark_bar(height=OBJECT_ROW_PX - 1, filled=False, stroke="gray")
        .encode(x=x, x2="end_s:Q", y=y)
    )
    return phases, frame


def _moments(moments: pl.DataFrame) -> tuple[alt.Chart, alt.Chart]:
    """Return a line for each moment, and its name above."""
    base = alt.Chart(inline(moments, "name", "start_s")).encode(x="start_s:Q")
    lines = base.mark_rule(strokeDash=[3, 2], color="gray")
    names = base.mark_text(align="left", baseline="bottom", dx=2, color="gray")
    return lines, names.encode(text="name:N", y=alt.value(0))
