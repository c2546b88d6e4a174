"""The break-even map: the gain on every network, and where it crosses zero."""

from typing import Literal

import altair as alt
import polars as pl

from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.chart import inline, layer_charts, specification

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
