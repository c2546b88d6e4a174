"""The figures of Das 2014: tables in, Vega-Lite specifications out; static, for print."""

from collections.abc import Sequence

import altair as alt
import polars as pl

from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.chart import inline, largest, layer_charts, specification

OPTIMAL = "optimal (unshaped)"
STEPS_MAX = 100  # points of a curve; of 500 sites each fifth


def heat_map(rows: pl.DataFrame, metric: str, comparisons: Sequence[str]) -> JsonObject:
    """Draw figure 5-2: the improvement of the median over sites by rate and round-trip time.

    `rows`: `rate_mbit_s`, `rtt_ms`, `comparison`, `improvement` (share; more is better), `claimed`:
    cells that are not have no colour, as they may be noise.
    """
    reach = max(0.01, largest(rows.filter("claimed")["improvement"].abs()))
    columns = ("rate_mbit_s", "rtt_ms", "comparison", "improvement", "claimed")
    base = alt.Chart(inline(rows, *columns)).encode(
        x=alt.X("rtt_ms:O", title="minimum round-trip time in ms", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("rate_mbit_s:O", sort="descending", title="rate in Mbit/s"),
    )
    scale = alt.Scale(domain=[-reach, 0, reach], range=["#a8341b", "#f5f5f2", "#0b6b4b"])
    title = f"{metric} better by"
    claims = rows["claimed"].any()
    legend = alt.Legend(format="%") if claims else None  # without coloured squares a scale misleads
    colour = alt.Color("improvement:Q", scale=scale, title=title, legend=legend)
    claimed = "datum.claimed == 'true'"
    plain = base.mark_rect().encode(color=alt.value("#f5f5f2"))
    squares = base.transform_filter(claimed).mark_rect().encode(color=colour)
    on_dark = f"{claimed} && abs(datum.improvement) > {0.6 * reach:.6g}"
    ink = alt.when(on_dark).then(alt.value("white")).when(claimed).then(alt.value("#1d2327"))
    numbers = base.mark_text(fontSize=9).encode(
        text=alt.Text("improvement:Q", format="+.0%"), color=ink.otherwise(alt.value("#5b656c"))
    )
    chart = layer_charts(plain, squares, numbers).properties(width=320, height=260)
    maps = alt.Facet("comparison:N", title=None, sort=list(comparisons))
    faceted = chart.facet(facet=maps, columns=2)
    if not claims:
        note = f"{title}; no square has a verdict, so none has a colour"
        faceted = faceted.properties(title=alt.TitleParams(note, anchor="start"))
    return specification(faceted)


def site_curves(rows: pl.DataFrame, stacks: Sequence[str], metric: str, columns: int) -> JsonObject:
    """Draw figure 5-1: over sites, the share with at most a median load time.

    `rows`: `network`, `stack` (OPTIMAL for the reference curve), `site`, `seconds` (infinite for a
    timeout: its site counts in the share, so that the curve ends below one); panels are in the
    order of the rows. `stacks`: all of the study, which determine the colours.
    """
    drawn = curve_steps(rows)
    names = [*stacks, OPTIMAL] if OPTIMAL in drawn["stack"] else list(stacks)
    dashes = [[1, 0]] * len(stacks) + ([[4, 3]] if len(names) > len(stacks) else [])
    present = set(drawn["stack"])
    legend = alt.Legend(values=[name for name in names if name in present])
    chart = (
        alt.Chart(inline(drawn))
        .mark_line(interpolate="step-after", strokeWidth=1.5)
        .encode(
            x=alt.X("seconds:Q", title=f"{metric} in s", axis=alt.Axis(tickCount=4)),
            y=alt.Y(
                "share:Q",
                title="share of sites",
                axis=alt.Axis(format=".0%", tickCount=3),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=alt.Color("stack:N", scale=alt.Scale(domain=names), legend=legend, title=None),
            strokeDash=alt.StrokeDash(
                "stack:N", scale=alt.Scale(domain=names, range=dashes), legend=legend, title=None
            ),
        )
        .properties(width=200, height=140)
    )
    order = rows["network"].unique(maintain_order=True).to_list()
    panels = alt.Facet("network:N", sort=order, title=None)
    panels_chart = chart.facet(facet=panels, columns=columns).resolve_scale(x="independent")
    return specification(panels_chart)


def curve_steps(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the corners of curves from the rows of `site_curves`.

    The columns are `network`, `stack`, `seconds`, `share`.
    """
    is_known = pl.col("seconds").is_finite()
    ranked = (
        rows.sort("network", "stack", "seconds")
        .with_columns(
            rank=pl.int_range(1, pl.len() + 1).over("network", "stack"),
            sites=pl.len().over("network", "stack"),
            known=is_known.sum().over("network", "stack"),
        )
        .filter(is_known)
    )
    every = (pl.col("known") - 1) // STEPS_MAX + 1
    thinned = ranked.filter((pl.col("rank") % every == 0) | (pl.col("rank") == pl.col("known")))
    steps = thinned.with_columns(share=pl.col("rank") / pl.col("sites"))
    first = ranked.filter(pl.col("rank") == 1).with_columns(share=pl.lit(0.0))
    return pl.concat([first, steps]).select("network", "stack", "seconds", "share")


def reproducibility(loads: pl.DataFrame) -> JsonObject:
    """Draw figure 4-2: how far single loads are from the median of their site, network and stack.

    `loads`: `network`, `site`, `stack`, `value`; the curve is the share of loads within a distance.
    """
    middle = pl.col("value").median().over("network", "site", "stack")
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
        alt.Chart(inline(thinned, "network", "distance", "share"))
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("distance:Q", title="distance from the median", axis=alt.Axis(format="%")),
            y=alt.Y("share:Q", title="share of loads", axis=alt.Axis(format="%")),
            color=alt.Color("network:N", title=None),
        )
    )
    return specification(chart.properties(width=360, height=240))
