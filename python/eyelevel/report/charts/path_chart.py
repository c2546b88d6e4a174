"""The traffic of a path over time: throughput against capacity, and queueing delay."""

import math
from collections.abc import Sequence

import altair as alt
import numpy as np

from eyelevel.analysis.pathlog.direction import DirectionLog
from eyelevel.analysis.pathlog.series import Series, series_of
from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.chart import layer_charts, specification

WIDTH, HEIGHT = 720, 180
CAPACITY, ARRIVED, DEPARTED, DROPPED = "#d9dee5", "#8a94a3", "#1f6feb", "#d1242f"
TYPICAL, WORST = "#1a7f37", "#9bd3a7"


def path_chart(logs: Sequence[DirectionLog], title: str) -> JsonObject:
    """Return a chart of throughput, above, and queueing delay, below, for each direction.

    In Mbit/s and ms over seconds, in bins whose width is in the title. Drops are marks on the upper
    chart's base line.
    """
    charts = []
    for log in logs:
        series = series_of(log)
        charts.append(_throughput(log, series))
        if log.capacity is not None:
            charts.append(_delay(series))
    return specification(
        alt.vconcat(*charts)
        .properties(title=title)
        .resolve_scale(color="independent")
        .configure_view(stroke=None)
        .configure_axis(grid=True, gridColor="#eeeeee")
        .configure_legend(orient="top", title=None)
    )


def _throughput(log: DirectionLog, series: Series) -> alt.LayerChart:
    layers = []
    names, colours = ["arriving", "leaving"], [ARRIVED, DEPARTED]
    if series.capacity_mbit_s is not None:
        names, colours = ["capacity", *names], [CAPACITY, *colours]
        layers.append(
            _rows(series.at_s, series.capacity_mbit_s, "capacity")
            .mark_area(interpolate="step-after", opacity=1)
            .encode(x=_x(), y=_y("Mbit/s"), color=_colour(names, colours))
        )
    for name, values in (("arriving", series.arrived_mbit_s), ("leaving", series.departed_mbit_s)):
        layers.append(
            _rows(series.at_s, values, name)
            .mark_line(interpolate="step-after", strokeWidth=1.5)
            .encode(x=_x(), y=_y("Mbit/s"), color=_colour(names, colours))
        )
    dropped = [
        {"s": float(s), "dropped": int(count)}
        for s, count in zip(series.at_s, series.dropped, strict=True)
        if count
    ]
    if dropped:
        layers.append(
            alt.Chart(alt.InlineData(values=dropped))
            .mark_tick(color=DROPPED, orient="vertical", height=10, thickness=1.5, yOffset=-5)
            .encode(x="s:Q", y=alt.datum(0), tooltip=["s:Q", "dropped:Q"])
        )
    lost = f", {sum(log.drops.values())} packets dropped (red)" if log.drops else ""
    title = f"{log.name}: throughput in bins of {series.width_s * 1000:g} ms{lost}"
    return layer_charts(*layers).properties(width=WIDTH, height=HEIGHT, title=title)


def _delay(series: Series) -> alt.LayerChart:
    names, colours = ["largest", "median"], [WORST, TYPICAL]
    both_ms = (series.delay_ms_max, series.delay_ms_p50)
    layers = [
        _rows(series.at_s, delays_ms, name)
        .mark_line(interpolate="step-after", strokeWidth=1.5)
        .encode(x=_x(), y=_y("ms"), color=_colour(names, colours))
        for name, delays_ms in zip(names, both_ms, strict=True)
    ]
    return layer_charts(*layers).properties(
        width=WIDTH, height=HEIGHT, title="queueing delay, transmission included"
    )


def _rows(at_s: np.ndarray, values: np.ndarray, name: str) -> alt.Chart:
    # Vega breaks a line at a null: a bin without departures has no delay.
    rows = [
        {"s": round(float(s), 6), "v": None if math.isnan(v) else round(float(v), 4), "of": name}
        for s, v in zip(at_s, values, strict=True)
    ]
    return alt.Chart(alt.InlineData(values=rows))


def _x() -> alt.X:
    return alt.X("s:Q", title="seconds", scale=alt.Scale(nice=False))


def _y(unit: str) -> alt.Y:
    return alt.Y("v:Q", title=unit, scale=alt.Scale(zero=True))


def _colour(names: list[str], colours: list[str]) -> alt.Color:
    return alt.Color("of:N", scale=alt.Scale(domain=names, range=colours))
