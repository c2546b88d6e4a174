"""The figures of Wolsing et al. 2019: tables in, Vega-Lite specifications out; for print.

The figures of Das 2014: tables in, Vega-Lite specifications out; static, for print. The figures of
Das 2014, chapter 6: tables in, Vega-Lite specifications out; for print. Wolsing et al. 2019, figure
4: filmstrips of loads whose metrics disagree. Progress curves: the visual progress over time, a
panel per network and site. The break-even map: the gain on every network, and where it crosses
zero.
"""

from collections.abc import Sequence
from typing import Literal, cast

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
        color=_colour(comparisons, "top"),
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


def draw_published_gains(rows: pl.DataFrame, theirs: str, ours: str) -> JsonObject:
    """Draw published gains and ours with intervals below one another.

    `rows`: `question` (a network, comparison and metric in words), `side` (`theirs` or `ours`),
    `gain`, `gain_low`, `gain_high` (shares; null for a number without an interval).
    """
    questions = rows["question"].unique(maintain_order=True).to_list()
    sides = [theirs, ours]
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("question:N", sort=questions, title=None, axis=alt.Axis(labelLimit=260)),
        yOffset=alt.YOffset("side:N", sort=sides),
        color=alt.Color(
            "side:N",
            title=None,
            scale=alt.Scale(domain=sides, range=["#a8341b", "#0b6b4b"]),
            legend=alt.Legend(orient="top"),
        ),
    )
    interval = base.transform_filter("isValid(datum.gain_low)").mark_rule(strokeWidth=1.5)
    axis = alt.X("gain_low:Q", title="mean gain (left is faster)", axis=GAIN_AXIS)
    shape = alt.Shape("side:N", scale=alt.Scale(domain=sides, range=["diamond", "circle"]))
    dot = base.mark_point(filled=True, size=45, opacity=1).encode(x="gain:Q", shape=shape)
    zero = alt.Chart(inline(rows.head(1))).mark_rule(strokeDash=[3, 3], color="gray")
    chart = layer_charts(
        zero.encode(x=alt.datum(0)), interval.encode(x=axis, x2="gain_high:Q"), dot
    )
    return specification(chart.properties(width=240, height=26 * len(questions)))


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


OPTIMAL = "optimal (unshaped)"
_DAS_STEPS_MAX = 100  # points of a curve; of 500 sites each fifth


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
    drawn = _curve_steps(rows)
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


def _curve_steps(rows: pl.DataFrame) -> pl.DataFrame:
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
    every = (pl.col("known") - 1) // _DAS_STEPS_MAX + 1
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


COLUMNS = 3  # of panels: the thesis's round trips of 30, 120 and 300 ms
QUANTILES = (0.5, 0.95)


def link_curves(rows: pl.DataFrame, stacks: Sequence[str], metric: str) -> JsonObject:
    """Draw figures 6-1, 6-3 and 6-4: over sites, the share with at most a median load time.

    There is a row of panels per link, and a panel per round trip; dots are the median and the 95th
    percentile over sites, as in section 6.3. `rows`: `link`, `course` (whether it is recorded),
    `rtt_ms`, `network`, `stack`, `site`, `seconds` (infinite for a timeout, whose site counts in
    the share). `stacks`: all of the study, which determine the colours.
    """
    present = set(rows["stack"])
    legend = alt.Legend(values=[name for name in stacks if name in present], orient="top")
    colour = alt.Color("stack:N", scale=alt.Scale(domain=list(stacks)), legend=legend, title=None)
    links = [_link(part, colour, metric) for part in rows.partition_by("link", maintain_order=True)]
    return specification(alt.vconcat(*links, spacing=24).resolve_scale(color="shared"))


def _link(rows: pl.DataFrame, colour: alt.Color, metric: str) -> alt.FacetChart:
    place = rows.select("network", "rtt_ms").unique(maintain_order=True)
    curves = _curve_steps(rows).with_columns(dot=pl.lit(0))
    drawn = pl.concat([curves, _dots(rows, curves.columns)]).join(place, on="network")
    several = place["rtt_ms"].n_unique() < place.height  # round trips alone do not identify panels
    panel = pl.format("{}, {} ms", "network", "rtt_ms") if several else pl.format("{} ms", "rtt_ms")
    names = place.with_columns(panel=panel.str.replace(r"\.0 ms$", " ms"))
    drawn = drawn.join(names.select("network", "panel"), on="network").drop("network", "rtt_ms")
    base = alt.Chart(inline(drawn)).encode(
        x=alt.X("seconds:Q", title=f"{metric} in s", axis=alt.Axis(tickCount=4)),
        y=alt.Y("share:Q", title="share of sites", scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format=".0%", values=[0, *QUANTILES])),
        color=colour,
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


PICTURE_PX = 100


def strips_chart(rows: pl.DataFrame) -> JsonObject:
    """Draw a strip per stack below the finding that it belongs to.

    `rows`: `finding` (clauses with `; ` between), `stack`, `seconds`, `url` (a data URL).
    """
    parts = []
    for (finding,), of_finding in rows.partition_by(
        "finding", as_dict=True, maintain_order=True
    ).items():
        base = alt.Chart(inline(of_finding, "stack", "seconds", "url")).encode(
            x=alt.X("seconds:O", title="seconds", axis=alt.Axis(labelAngle=0)),
            y=alt.Y(
                "stack:N",
                title=None,
                sort=of_finding["stack"].unique(maintain_order=True).to_list(),
            ),
        )
        # A frame that is still white would be invisible on white paper.
        frames = base.mark_rect(fill="white", stroke="#9aa19d", strokeWidth=0.5)
        pictures = base.mark_image(width=PICTURE_PX, height=PICTURE_PX).encode(url="url:N")
        parts.append(
            layer_charts(frames, pictures).properties(
                width=alt.Step(PICTURE_PX + 6),
                height=alt.Step(PICTURE_PX * 0.62),
                title=alt.TitleParams(str(finding).split("; "), anchor="start", fontSize=12),
            )
        )
    return specification(alt.vconcat(*parts))


WIDTH_PX = 200
HEIGHT_PX = 110


def progress_chart(
    rows: pl.DataFrame, stacks: Sequence[str], line: Literal["linear", "step-after"]
) -> JsonObject:
    """Draw one line per stack in each panel, in the order of the rows.

    `rows`: `network`, `site`, `stack`, `seconds`, `share` (0 to 1). `stacks`: all of the study,
    which determine the colours. `line`: the interpolation between points, for means or for one
    load's steps.
    """
    titled = rows.with_columns(panel=pl.format("{} on {}", "site", "network"))
    panels = titled["panel"].unique(maintain_order=True).to_list()
    present = [stack for stack in stacks if stack in set(rows["stack"])]
    chart = (
        alt.Chart(inline(titled, "panel", "stack", "seconds", "share"))
        .mark_line(interpolate=line, strokeWidth=1.6)
        .encode(
            x=alt.X("seconds:Q", title="seconds", axis=alt.Axis(tickCount=4)),
            y=alt.Y(
                "share:Q",
                title="visual progress",
                axis=alt.Axis(format=".0%", tickCount=3),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=alt.Color(
                "stack:N",
                title=None,
                scale=alt.Scale(domain=list(stacks)),
                legend=alt.Legend(values=present, orient="top"),
            ),
        )
        .properties(width=WIDTH_PX, height=HEIGHT_PX)
    )
    facet = alt.Facet("panel:N", sort=panels, title=None)
    panelled = chart.facet(facet=facet, columns=min(COLUMNS, len(panels)))
    return specification(panelled.resolve_scale(x="independent"))


UNDECIDED = "undecided"
FINDINGS = {"faster": "#0b6b4b", UNDECIDED: "#b9bfbb", "slower": "#a8341b"}
CROSSING_COLOUR = alt.condition(
    "datum.between_claims == 'true'", alt.value("#e8a33d"), alt.value("#8f9598")
)
GAIN = ("gain", "gain_low", "gain_high")
TITLES = {
    "rtt_ms": "minimum round-trip time in ms",
    "rate_mbit_s": "rate in Mbit/s",
    "loss_percent": "packets lost in %",
}


def break_even_map(rows: pl.DataFrame, points: pl.DataFrame, axes: tuple[str, str]) -> JsonObject:
    """Return a square per network, and a diamond with its interval where the gain crosses zero.

    `rows`: the two `axes`, `comparison`, `finding` (of FINDINGS), `gain`, `gain_low`, `gain_high`;
    `points`: `comparison`, the second axis, `crossing`, `crossing_low`, `crossing_high` on the
    first one, and `between_claims`, without which it is grey.
    """
    across, up = axes
    x_scale, y_scale = (_scale(rows[name]) for name in axes)
    panels = []
    for comparison in rows["comparison"].unique(maintain_order=True):
        of_pair = rows.filter(comparison=comparison)
        crossings = points.filter(comparison=comparison)
        squares = (
            alt.Chart(inline(of_pair, across, up, "finding", *GAIN))
            .mark_point(shape="square", filled=True, size=260, opacity=1)
            .encode(
                x=alt.X(f"{across}:Q", title=TITLES[across], scale=x_scale),
                y=alt.Y(f"{up}:Q", title=TITLES[up], scale=y_scale),
                color=alt.Color(
                    "finding:N",
                    title=None,
                    scale=alt.Scale(domain=list(FINDINGS), range=list(FINDINGS.values())),
                ),
                tooltip=[alt.Tooltip(f"{name}:Q", format="+.1%") for name in GAIN],
            )
        )
        layers: list[alt.Chart] = [squares]
        if crossings.height:
            base = alt.Chart(
                inline(crossings, up, "crossing", "crossing_low", "crossing_high", "between_claims")
            ).encode(
                y=alt.Y(f"{up}:Q", title=TITLES[up]),
                color=CROSSING_COLOUR,
            )
            rule = base.mark_rule(strokeWidth=2)
            layers.append(
                rule.encode(x=alt.X("crossing_low:Q", title=TITLES[across]), x2="crossing_high:Q")
            )
            dot = base.mark_point(shape="diamond", filled=True, size=110)
            layers.append(
                dot.encode(x=alt.X("crossing:Q", title=TITLES[across]), opacity=alt.value(1))
            )
        title = alt.TitleParams(comparison, anchor="start", fontSize=12)
        panels.append(layer_charts(*layers).properties(width=300, height=220, title=title))
    return specification(alt.concat(*panels, columns=2))


def _scale(values: pl.Series) -> alt.Scale:
    """Return a logarithmic scale for values over more than a factor of ten, else a linear one."""
    numbers = [float(value) for value in values.drop_nulls()] or [0.0]
    low, high = min(numbers), max(numbers)
    spread: Literal["log", "linear"] = "log" if low > 0 and high / low > 10 else "linear"
    return alt.Scale(type=spread, zero=False, padding=14, nice=False)
