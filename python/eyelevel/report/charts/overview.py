"""The gains at a glance: one chart per comparison, a row per network, or site by site."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.chart import (
    axis_of,
    beyond_the_axis,
    inline,
    layer_charts,
    specification,
)

CLAIMS = {"faster": "var(--faster)", "slower": "var(--slower)", "no claim": "var(--quiet)"}
"""The page's colours of claims: only a verdict, corrected for all comparisons, is not grey."""

SAID_SHARE = 0.3  # share of the axis
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
    CLAIMS), `said` (the difference in words). `extent`: the axis, shared by all comparisons.
    """
    scale = alt.Scale(domain=list(CLAIMS), range=list(CLAIMS.values()))
    colour = alt.Color("claim:N", legend=None, scale=scale)
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("network:N", sort=list(networks), title=None), color=colour
    )
    # Room on the right for the words, so that no interval runs through them.
    low, high = extent
    extent = (low, high + SAID_SHARE * (high - low))
    said = base.encode(x=alt.value("width"), text="said:N")
    words = _text(said).encode(color=alt.value("var(--ink)"))
    # On a narrow screen the words overlap the zero line: paper around them keeps them legible.
    paper = _text(said, stroke="var(--paper)", strokeWidth=4)
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
    return interval, *beyond_the_axis(known, extent), dot


def _text(said: alt.Chart, **style: Any) -> alt.Chart:
    text: alt.Chart = said.mark_text(align="right", baseline="bottom", dy=-6, **style)
    return text


def _zero() -> alt.Chart:
    rule = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(strokeDash=[3, 3])
    zero: alt.Chart = rule.encode(x=alt.X("zero:Q"))
    return zero


def _of_page(chart: alt.LayerChart, height: int) -> JsonObject:
    return specification(chart.properties(width="container", height=height))
