"""Cumulative distributions: of a run's loads, and of any samples in milliseconds."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import cast

import altair as alt
import numpy as np
import polars as pl

from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.chart import specification
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
    samples: Mapping[str, np.ndarray], x_title: str, names: Sequence[str]
) -> JsonObject:
    """Return a Vega-Lite specification: one curve per name, values in milliseconds.

    `names` are those of all charts on a page: a name's position determines its colour.
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
    if domain[0] == domain[1]:
        domain = [domain[0] - 1, domain[1] + 1]
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
            color=alt.Color("curve:N", scale=alt.Scale(domain=list(names)), legend=None),
            tooltip=[
                alt.Tooltip("curve:N", title="curve"),
                alt.Tooltip("ms:Q", format=".3f"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    return specification(chart.properties(width="container", height=260))
