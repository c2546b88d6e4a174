"""Mean performance gains with their intervals: one chart per network, one row per comparison."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import cast

import altair as alt
import polars as pl

from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.chart import arrowheads, layer_charts, specification

_ROWS = '"the rows"'
COLUMNS = ("metric", "stack", "comparison", "gain", "gain_low", "gain_high", "claimed")


def gain_chart(
    rows: pl.DataFrame,
    stacks: list[str],
    comparisons: list[str],
    metric: str,
    extents: Mapping[str, tuple[float, float]],
) -> JsonObject:
    """Return a Vega-Lite specification of one network's gains.

    `rows` has COLUMNS: gains as shares with the bounds of their intervals, null if undetermined. A
    `claimed` one is called faster or slower and has the stack's colour; all others are grey. The
    parameter `metric` selects what is shown, `hidden` lists stacks that are not. `extents` has each
    metric's axis, shared between networks so that they can be compared by eye; negative is faster.
    `comparisons` determines the order, and a comparison has the colour of its stack among `stacks`.
    """
    # Building a chart takes 0.1 s, and a study may have a hundred networks.
    text = _template(tuple(stacks), tuple(comparisons), metric, tuple(extents.items()))
    return cast(
        JsonObject, json.loads(text.replace(_ROWS, json.dumps(rows.select(COLUMNS).to_dicts())))
    )


@lru_cache(maxsize=4)
def _template(
    stacks: tuple[str, ...],
    comparisons: tuple[str, ...],
    metric: str,
    extents: tuple[tuple[str, tuple[float, float]], ...],
) -> str:
    """Return the specification as JSON, with _ROWS as a placeholder of the rows."""
    chosen = [
        alt.param(name="metric", value=metric),
        alt.param(name="hidden", value=[]),
        alt.param(name="extents", value={name: list(extent) for name, extent in extents}),
    ]
    low, high = "extents[metric][0]", "extents[metric][1]"
    axis_scale = alt.Scale(
        domainMin=alt.ExprRef(low), domainMax=alt.ExprRef(high), clamp=True, nice=False
    )
    base = (
        alt.Chart(alt.InlineData(values=json.loads(_ROWS)))
        .transform_filter("datum.metric == metric")
        .transform_filter("indexof(hidden, datum.stack) < 0")
        .encode(
            y=alt.Y(
                "comparison:N",
                sort=list(comparisons),
                title=None,
                scale=alt.Scale(domain=list(comparisons)),
            ),
            color=alt.condition(
                "datum.claimed",
                alt.Color("stack:N", scale=alt.Scale(domain=list(stacks)), legend=None),
                alt.value("gray"),
            ),
        )
    )
    zero = (
        alt.Chart(alt.InlineData(values=[{"zero": 0}]))
        .mark_rule(strokeDash=[3, 3])
        .encode(x=alt.X("zero:Q"))
    )
    axis = alt.Axis(
        tickCount=6,
        labelExpr="datum.value == 0 ? '0' : format(datum.value, '+.0%')",
        title="gain against the reference (left is faster)",
    )
    known = base.transform_filter("isValid(datum.gain)")
    unknown = base.transform_filter("!isValid(datum.gain)").mark_text(align="left")
    note = unknown.encode(x=alt.value(8), text=alt.value("undetermined"), color=alt.value("gray"))
    interval = known.mark_rule(strokeWidth=2).encode(
        x=alt.X("gain_low:Q", scale=axis_scale, axis=axis),
        x2="gain_high:Q",
    )
    dot = known.mark_point(filled=True, size=80, opacity=1).encode(
        x=alt.X("gain:Q"),
        tooltip=[
            alt.Tooltip("comparison:N", title="comparison"),
            alt.Tooltip("gain:Q", title="gain", format="+.1%"),
            alt.Tooltip("gain_low:Q", title="from", format="+.1%"),
            alt.Tooltip("gain_high:Q", title="to", format="+.1%"),
        ],
    )
    height = 44 * max(1, len(comparisons))
    chart = layer_charts(zero, interval, *arrowheads(known, low, high), dot, note).add_params(
        *chosen
    )
    text_chart = specification(chart.properties(width="container", height=height))
    return json.dumps(text_chart)
