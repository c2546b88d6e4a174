"""The papers' figures: tables in, Vega-Lite specifications out; static, for print."""

from typing import Any

import altair as alt
import polars as pl

GAIN_AXIS = alt.Axis(format="+.0%", tickCount=5)
SIGNIFICANCE_COLOURS = {"faster": "#0b6b4b", "neither": "#c9cecb", "slower": "#a8341b"}


def gain_cdf(cells: pl.DataFrame, arms: list[str]) -> dict[str, Any]:
    """Wolsing et al. 2019, figure 3: the share of sites with at most a gain, by network and metric.

    `cells`: `network`, `metric` (its title), `arm`, `gain` (share), one row a site.
    """
    ranked = cells.sort("gain").with_columns(
        share=pl.int_range(1, pl.len() + 1).over("network", "metric", "arm")
        / pl.len().over("network", "metric", "arm")
    )
    columns = ("network", "metric", "arm", "gain", "share")
    first = ranked.group_by("network", "metric", "arm", maintain_order=True).first()
    start = first.with_columns(share=pl.lit(0.0)).select(columns)
    base = alt.Chart(_data(pl.concat([start, ranked.select(columns)]), *columns))
    lines = base.mark_line(interpolate="step-after", strokeWidth=1.5).encode(
        x=alt.X("gain:Q", title="performance gain (left is faster)", axis=GAIN_AXIS),
        y=alt.Y("share:Q", title="share of sites", axis=alt.Axis(format=".0%", tickCount=3)),
        color=_arm(arms),
    )
    zero = base.mark_rule(strokeDash=[3, 3], color="gray").encode(x=alt.datum(0))
    return _facets(alt.layer(zero, lines).properties(width=150, height=110), cells)


def significance_shares(cells: pl.DataFrame, arms: list[str]) -> dict[str, Any]:
    """Shares of sites that are significantly faster, slower, neither: ANOVA at 0.01, as published.

    `cells`: `network`, `metric`, `arm`, `anova` (the verdict). Undetermined sites count as neither.
    """
    known = pl.when(pl.col("anova").is_in(["faster", "slower"])).then("anova")
    finding = known.otherwise(pl.lit("neither")).alias("finding")
    rows = cells.with_columns(finding).group_by("network", "metric", "arm", "finding").len("sites")
    order = list(SIGNIFICANCE_COLOURS)
    chart = (
        alt.Chart(_data(rows.sort("network", "metric", "arm", "finding"), *rows.columns))
        .mark_bar()
        .encode(
            x=alt.X("sites:Q", stack="normalize", title="share of sites"),
            y=alt.Y("arm:N", sort=arms, title=None),
            color=alt.Color(
                "finding:N",
                title=None,
                scale=alt.Scale(domain=order, range=list(SIGNIFICANCE_COLOURS.values())),
            ),
            order=alt.Order("finding:N"),
        )
        .properties(width=150, height=22 * max(1, len(arms) - 1))
    )
    return _facets(chart, cells)


def heat_map(cells: pl.DataFrame, metric: str) -> dict[str, Any]:
    """Das 2014, figure 5-2: the median improvement over sites by rate and round-trip time.

    `cells`: `rate_mbit_s`, `rtt_ms`, `arm`, `gain`; improvement is -gain, so that more is better.
    """
    rows = (
        cells.group_by("rate_mbit_s", "rtt_ms", "arm")
        .agg(improvement=-pl.col("gain").median())
        .sort("arm", "rate_mbit_s", "rtt_ms")
    )
    reach = max(0.01, float(rows["improvement"].abs().max() or 0.0))
    base = alt.Chart(_data(rows, *rows.columns)).encode(
        x=alt.X("rtt_ms:O", title="minimum round-trip time in ms"),
        y=alt.Y("rate_mbit_s:O", sort="descending", title="rate in Mbit/s"),
    )
    scale = alt.Scale(domain=[-reach, 0, reach], range=["#a8341b", "#f5f5f2", "#0b6b4b"])
    squares = base.mark_rect().encode(
        color=alt.Color(
            "improvement:Q", scale=scale, title=metric + " better by", legend=alt.Legend(format="%")
        )
    )
    numbers = base.mark_text(fontSize=9).encode(text=alt.Text("improvement:Q", format="+.0%"))
    chart = alt.layer(squares, numbers).properties(width=320, height=260)
    return chart.facet(column=alt.Column("arm:N", title=None)).to_dict(validate=False)


def against_attribute(cells: pl.DataFrame, attribute: str, title: str) -> dict[str, Any]:
    """Wolsing's slide 14: the difference in round trips against an attribute of the site.

    `cells`: `network`, `arm`, `site`, `difference_rtts`, and `attribute`.
    """
    columns = ("network", "arm", "site", "difference_rtts", attribute)
    base = alt.Chart(_data(cells, *columns))
    dots = base.mark_point(filled=True, opacity=0.7).encode(
        x=alt.X(f"{attribute}:Q", title=title),
        y=alt.Y("difference_rtts:Q", title="difference in round trips"),
        color=alt.Color("arm:N", title=None),
    )
    zero = base.mark_rule(strokeDash=[3, 3], color="gray").encode(y=alt.datum(0))
    chart = alt.layer(zero, dots).properties(width=180, height=140)
    return chart.facet(facet="network:N", columns=3).to_dict(validate=False)


def reproducibility(loads: pl.DataFrame) -> dict[str, Any]:
    """Das 2014, figure 4-2: how far single loads are from the median of their like.

    `loads`: `network`, `site`, `arm`, `value`; the curve is the share of loads within a distance.
    """
    middle = pl.col("value").median().over("network", "site", "arm")
    rows = (
        loads.with_columns(distance=(pl.col("value") / middle - 1).abs())
        .sort("network", "distance")
        .with_columns(
            share=pl.int_range(1, pl.len() + 1).over("network") / pl.len().over("network")
        )
    )
    thinned = rows.filter(
        (pl.int_range(pl.len()).over("network") % (pl.len().over("network") // 500 + 1)) == 0
    )
    chart = (
        alt.Chart(_data(thinned, "network", "distance", "share"))
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("distance:Q", title="distance from the median", axis=alt.Axis(format="%")),
            y=alt.Y("share:Q", title="share of loads", axis=alt.Axis(format="%")),
            color=alt.Color("network:N", title=None),
        )
    )
    return chart.properties(width=360, height=240).to_dict(validate=False)


def _facets(chart: alt.LayerChart | alt.Chart, cells: pl.DataFrame) -> dict[str, Any]:
    made = chart.facet(
        row=alt.Row("network:N", sort=cells["network"].unique(maintain_order=True).to_list()),
        column=alt.Column("metric:N", sort=cells["metric"].unique(maintain_order=True).to_list()),
    )
    return made.to_dict(validate=False)


def _arm(arms: list[str]) -> alt.Color:
    return alt.Color("arm:N", scale=alt.Scale(domain=arms[1:]), title=None)


def _data(rows: pl.DataFrame, *columns: str) -> alt.InlineData:
    return alt.InlineData(values=rows.select(columns).to_dicts())
