"""Cumulative distributions: of a run's loads, and of any samples in milliseconds.

Mean performance gains with their intervals: one chart per network, one row per comparison. The
gains at a glance: one chart per comparison, a row per network, or site by site.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

import altair as alt
import numpy as np
import polars as pl

from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.chart import (
    arrowheads,
    arrows_beyond_axis,
    axis_of,
    inline,
    layer_charts,
    specification,
)
from eyelevel.store.outcomes import CENSORED

ALL_SITES = "all sites"
POINTS_MAX = 200  # a step of a pixel and a half is as fine as the chart can show
SINGLE_POINTS_MAX = 12  # for single sites if there are many: the page must open quickly
SITES_MAX = 12  # with more sites, single ones have curves of the primary metric only: page size
NETWORKS_MAX = 12  # with more networks there are curves of the primary metric over all sites only
_ROWS = '"the rows"'
COLUMNS = ("metric", "site", "stack", "value", "share")


def cumulative(kept: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return one row per step of each curve: `network` and COLUMNS, values in milliseconds.

    The first of `metrics` is the primary one. A load that timed out has no value but counts in the
    share's denominator, so the curve of a stack with timeouts ends below 1. Site ALL_SITES has all
    sites' loads together. Curves start at share 0.
    """
    columns = ["network", "site", "stack", "outcome", *metrics]
    loads = kept.select(columns).unpivot(
        on=list(metrics), index=columns[:4], variable_name="metric", value_name="value"
    )
    many = loads["network"].n_unique() > NETWORKS_MAX
    if many:
        loads = loads.filter(pl.col("metric") == metrics[0])
    single = loads.clear() if many else loads
    if thinned := single["site"].n_unique() > SITES_MAX:
        single = loads.filter(pl.col("metric") == metrics[0])
    loads = pl.concat([single, loads.with_columns(site=pl.lit(ALL_SITES))])
    loads = loads.filter(pl.col("value").is_not_null() | pl.col("outcome").is_in(CENSORED))
    rows: list[tuple[object, ...]] = []
    keys = ("network", "metric", "site", "stack")
    for key, part in sorted(loads.partition_by(keys, as_dict=True).items()):
        values = part["value"].drop_nulls().sort().to_list()
        steps: Sequence[int] = range(1, len(values) + 1)
        points = SINGLE_POINTS_MAX if thinned and key[2] != ALL_SITES else POINTS_MAX
        if len(values) > points:
            steps = sorted({round(i * len(values) / points) for i in range(1, points + 1)})
        if values:
            rows.append((*key, values[0], 0.0))
        rows += [(*key, values[i - 1], i / part.height) for i in steps]
    schema = {"network": pl.String, "metric": pl.String, "site": pl.String, "stack": pl.String}
    return pl.DataFrame(
        rows, schema=schema | {"value": pl.Float64, "share": pl.Float64}, orient="row"
    )


def distribution_chart(
    rows: pl.DataFrame, stacks: list[str], metric: str, site: str = ALL_SITES
) -> JsonObject:
    """Return a Vega-Lite specification of one network's curves.

    The parameters `metric` and `site` select, `hidden` lists the stacks that are not drawn.
    """
    text = _template(tuple(stacks), metric, site)
    return cast(JsonObject, json.loads(text.replace(_ROWS, json.dumps(_csv(rows)))))


@lru_cache(maxsize=4)
def _template(stacks: tuple[str, ...], metric: str, site: str) -> str:
    """Return the specification as JSON, with _ROWS as a placeholder of the rows."""
    params = [alt.param(name="metric", value=metric), alt.param(name="site", value=site)]
    params.append(alt.param(name="hidden", value=[]))
    chart = (
        alt.Chart(_data())
        .transform_filter("datum.metric == metric && datum.site == site")
        .transform_filter("indexof(hidden, datum.stack) < 0")
        .transform_calculate(seconds="datum.value / 1000")
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X(
                "seconds:Q",
                title="seconds",
                scale=alt.Scale(zero=False, nice=True),
                axis=alt.Axis(tickCount=6),
            ),
            y=alt.Y(
                "share:Q",
                title="share of loads",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format=".0%", tickCount=5),
            ),
            color=alt.Color("stack:N", scale=alt.Scale(domain=list(stacks)), legend=None),
            tooltip=[
                alt.Tooltip("stack:N", title="stack"),
                alt.Tooltip("seconds:Q", format=".3f"),
                alt.Tooltip("share:Q", title="share of loads", format=".0%"),
            ],
        )
        .add_params(*params)
    )
    return json.dumps(chart.properties(width="container", height=220).to_dict(validate=False))


def _csv(rows: pl.DataFrame) -> str:
    """Return the rows as CSV: half the size of objects, and not checked one by one when drawn."""
    return (
        rows.select(COLUMNS)
        .with_columns(pl.col("value").round(1), pl.col("share").round(4))
        .write_csv()
    )


def _data() -> alt.InlineData:
    parse = {"metric": "string", "site": "string", "stack": "string"}
    numbers = {"value": "number", "share": "number"}
    return alt.InlineData(
        values=json.loads(_ROWS), format=alt.CsvDataFormat(type="csv", parse=parse | numbers)
    )


SAMPLE_POINTS_MAX = 400
SHOWN_PERCENTS = (0.5, 99.5)
"""The range of the axis: single outliers would compress everything else."""


def curves_chart(
    samples: Mapping[str, np.ndarray],
    x_title: str,
    names: Sequence[str],
    print_px: int | None = None,
    *,
    from_zero: bool = False,
) -> JsonObject:
    """Return a Vega-Lite specification: one curve per name, values in milliseconds.

    `names` are those of all charts on a page: a name's position determines its colour. With
    `print_px` it has this width and a legend, since no page around it has one. `from_zero`: the
    axis begins there, so that values that are nearly equal look so.
    """
    rows = []
    for name, values in samples.items():
        ordered = np.sort(values)
        count = min(SAMPLE_POINTS_MAX, ordered.size)
        ranks = np.unique(np.linspace(0, ordered.size - 1, count).round().astype(int))
        rows += [
            {"curve": name, "ms": round(float(ordered[r]), 3), "share": (r + 1) / ordered.size}
            for r in ranks
        ]
    bounds = [np.percentile(values, SHOWN_PERCENTS) for values in samples.values()]
    domain = [float(min(b[0] for b in bounds)), float(max(b[1] for b in bounds))]
    if from_zero:
        domain[0] = 0.0
    if domain[0] == domain[1]:
        domain = [domain[0] - 1, domain[1] + 1]
    legend = None
    if print_px:
        legend = alt.Legend(orient="top", columns=1, title=None, labelLimit=print_px,
                            values=list(samples))  # fmt: skip
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=2, clip=True)
        .encode(
            x=alt.X("ms:Q", title=x_title, scale=alt.Scale(domain=domain, nice=True)),
            y=alt.Y(
                "share:Q",
                title="share",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format=".0%", tickCount=5),
            ),
            color=alt.Color("curve:N", scale=alt.Scale(domain=list(names)), legend=legend),
            tooltip=[
                alt.Tooltip("curve:N", title="curve"),
                alt.Tooltip("ms:Q", format=".3f"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    return specification(chart.properties(width=print_px or "container", height=260))


_GAIN_COLUMNS = ("metric", "stack", "comparison", "gain", "gain_low", "gain_high", "claimed")


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
    text = _gain_template(tuple(stacks), tuple(comparisons), metric, tuple(extents.items()))
    return cast(
        JsonObject,
        json.loads(text.replace(_ROWS, json.dumps(rows.select(_GAIN_COLUMNS).to_dicts()))),
    )


@lru_cache(maxsize=4)
def _gain_template(
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


CLAIMS = {"faster": "var(--faster)", "slower": "var(--slower)", "no claim": "var(--quiet)"}
"""The page's colours of claims: only a verdict, corrected for all comparisons, is not grey."""

LABEL_SHARE = 0.3  # share of the axis
_ROW_PX = 30
_GAINS = ("gain", "gain_low", "gain_high")
_AXIS = alt.Axis(
    tickCount=5,
    labelExpr="datum.value == 0 ? '0' : format(datum.value, '+.0%')",
    title=None,
)


def gains_overview(
    rows: pl.DataFrame, networks: Sequence[str], extent: tuple[float, float]
) -> JsonObject:
    """Draw one comparison's gains by network, for a page.

    `rows`: `network`, `gain`, `gain_low`, `gain_high` (shares; null if undetermined), `claim` (of
    CLAIMS), `label` (the difference in words). `extent`: the axis, shared by all comparisons.
    """
    scale = alt.Scale(domain=list(CLAIMS), range=list(CLAIMS.values()))
    colour = alt.Color("claim:N", legend=None, scale=scale)
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("network:N", sort=list(networks), title=None), color=colour
    )
    # Room on the right for the words, so that no interval runs through them.
    low, high = extent
    extent = (low, high + LABEL_SHARE * (high - low))
    labels = base.encode(x=alt.value("width"), text="label:N")
    words = _text(labels).encode(color=alt.value("var(--ink)"))
    # On a narrow screen the words overlap the zero line: paper around them keeps them legible.
    paper = _text(labels, stroke="var(--paper)", strokeWidth=4)
    chart = layer_charts(_zero(), *_dots(base, extent), paper, words)
    height = _ROW_PX * max(1, len(networks)) + 10
    return _of_page(chart, height)


def sites_overview(
    rows: pl.DataFrame,
    sites: Sequence[str],
    networks: Sequence[str],
    extent: tuple[float, float],
) -> JsonObject:
    """Draw one comparison's gains site by site, one colour per network; none of them is a claim.

    `rows`: `site`, `network`, `gain`, `gain_low`, `gain_high`, as in `gains_overview`.
    """
    # The page's colours except the first, the grey of gains without a claim.
    colours = [f"var(--stack-{1 + index % 7})" for index in range(len(networks))]
    scale = alt.Scale(domain=list(networks), range=colours)
    colour = alt.Color(
        "network:N", scale=scale, title=None, legend=alt.Legend(orient="top", columns=3)
    )
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("site:N", sort=list(sites), title=None),
        yOffset=alt.YOffset("network:N", sort=list(networks)),
        color=colour,
    )
    height = max(22, 12 * len(networks)) * max(1, len(sites)) + 10
    return _of_page(layer_charts(_zero(), *_dots(base, extent)), height)


def _dots(base: alt.Chart, extent: tuple[float, float]) -> tuple[alt.Chart, ...]:
    x = alt.X("gain_low:Q", axis=_AXIS, scale=axis_of(extent))
    known = base.transform_filter("isValid(datum.gain)")
    tooltip = [alt.Tooltip(f"{name}:Q", format="+.1%") for name in _GAINS]
    interval = known.mark_rule(strokeWidth=2).encode(x=x, x2="gain_high:Q")
    dot = known.mark_point(filled=True, size=80, opacity=1).encode(x="gain:Q", tooltip=tooltip)
    return interval, *arrows_beyond_axis(known, extent), dot


def _text(labels: alt.Chart, **style: Any) -> alt.Chart:
    text: alt.Chart = labels.mark_text(align="right", baseline="bottom", dy=-6, **style)
    return text


def _zero() -> alt.Chart:
    rule = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(strokeDash=[3, 3])
    zero: alt.Chart = rule.encode(x=alt.X("zero:Q"))
    return zero


def _of_page(chart: alt.LayerChart, height: int) -> JsonObject:
    return specification(chart.properties(width="container", height=height))
