"""Charts of connections on one time axis: objects, window and bytes in flight, RTTs, losses.

The traffic of a path over time: throughput against capacity, and queueing delay.
"""

import math
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import altair as alt
import numpy as np

from eyelevel.analysis.connections import Timeline, Transport
from eyelevel.analysis.pathlog import DirectionLog, Series, series_of
from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.chart import layer_charts, specification

POINTS_MAX = 3000
"""The most points of a line: more than a screen has pixels."""
OBJECTS_MAX = 80
"""The most objects of a waterfall; its title counts the later ones."""
ROW_PX = 13
NAME_CHARACTERS_MAX = 24
LABEL_PX = 96
"""The width of labels beside every chart, so that their time axes are aligned."""
SHADES = {"handshake": 0.65, "waiting": 0.35, "receiving": 1.0}


def end_ms(timelines: Sequence[Timeline]) -> float:
    """Return the end of the common axis: the last arrival of an object, in ms."""
    ends = [item.finished_ms or item.started_ms for line in timelines for item in line.objects]
    ready = [line.ready_ms or 0.0 for line in timelines]
    return max([*ends, *ready, 1.0])


def start_ms(timelines: Sequence[Timeline]) -> float:
    """Return the start of the common axis: the navigation, or the start of an older connection."""
    return min([0.0, *(line.accepted_ms or 0.0 for line in timelines)])


def waterfall(timeline: Timeline, number: int, domain: tuple[float, float]) -> JsonObject:
    """Return one row per object, waiting light and receiving full, below the handshake."""
    rows = []
    start = timeline.connect_ms[0] if timeline.connect_ms else timeline.accepted_ms
    end = timeline.ready_ms or (timeline.connect_ms[1] if timeline.connect_ms else None)
    if start is not None and end is not None:
        rows.append(_row("handshake", "handshake", start, end, "handshake", 0, number))
    for index, item in enumerate(timeline.objects[:OBJECTS_MAX], start=1):
        name = f"{index} {_short(item.url)}"
        answered = item.response_ms if item.response_ms is not None else item.finished_ms
        if answered is not None:
            rows.append(_row(name, item.url, item.started_ms, answered, "waiting", index, number))
        if answered is not None and item.finished_ms is not None:
            rows.append(
                _row(name, item.url, answered, item.finished_ms, "receiving", index, number)
            )
    count = 1 + min(len(timeline.objects), OBJECTS_MAX)
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(height=ROW_PX - 4, clip=True)
        .encode(
            x=_x("start", domain),
            x2="end:Q",
            y=alt.Y(
                "object:N",
                title=None,
                sort=alt.SortField("order"),
                axis=_axis(labelFontSize=10),
            ),
            color=_colour(),
            opacity=alt.Opacity("shade:Q", legend=None, scale=None),
            tooltip=[
                alt.Tooltip("url:N"),
                alt.Tooltip("what:N"),
                alt.Tooltip("start:Q", format=".1f"),
                alt.Tooltip("end:Q", format=".1f"),
            ],
        )
    )
    return specification(chart.properties(width="container", height=max(40, count * ROW_PX)))


def window_chart(timelines: Sequence[Timeline], domain: tuple[float, float]) -> JsonObject:
    """Draw congestion window (dashed) and bytes in flight, in kilobytes."""
    layers = []
    for number, transport in _with_logs(timelines):
        for name, values in (
            ("window", transport.window_bytes),
            ("in flight", transport.in_flight_bytes),
        ):
            kilobytes = [value / 1000 for value in values]
            layers.append(
                _line(transport.at_ms, kilobytes, number, name, domain)
                .mark_line(
                    interpolate="step-after",
                    strokeWidth=1.5,
                    clip=True,
                    strokeDash=[5, 3] if name == "window" else [1, 0],
                )
                .encode(y=_y())
            )
    return _layer(layers, 220)


def rtt_chart(timelines: Sequence[Timeline], domain: tuple[float, float]) -> JsonObject:
    """Draw the senders' smoothed round-trip times."""
    layers = []
    for number, transport in _with_logs(timelines):
        known = [
            (ms, rtt)
            for ms, rtt in zip(transport.at_ms, transport.rtt_ms, strict=True)
            if rtt is not None
        ]
        layers.append(
            _line([ms for ms, _ in known], [rtt for _, rtt in known], number, "RTT", domain)
            .mark_line(interpolate="step-after", strokeWidth=1.5, clip=True)
            .encode(y=_y())
        )
    return _layer(layers, 150)


def loss_chart(timelines: Sequence[Timeline], domain: tuple[float, float]) -> JsonObject:
    """Draw packets deemed lost or retransmitted, one stroke per time."""
    layers = []
    for number, transport in _with_logs(timelines):
        rows = [
            {"ms": round(ms, 3), "packets": count, "of": str(number), "row": number}
            for ms, count in transport.losses
        ]
        layers.append(
            alt.Chart(alt.InlineData(values=rows))
            .mark_tick(thickness=1.5, height=16, clip=True)
            .encode(
                x=_x("ms", domain),
                y=alt.Y(
                    "row:O",
                    title=None,
                    scale=alt.Scale(domain=list(range(1, len(timelines) + 1))),
                    axis=_axis(labels=False, ticks=False, domain=False),
                ),
                color=_colour(),
                tooltip=[alt.Tooltip("ms:Q", format=".1f"), "packets:Q"],
            )
        )
    return _layer(layers, 48)


def _with_logs(timelines: Sequence[Timeline]) -> list[tuple[int, Transport]]:
    numbered = enumerate(timelines, start=1)
    return [(number, line.transport) for number, line in numbered if line.transport is not None]


def _row(
    name: str, url: str, start: float, end: float, what: str, order: int, number: int
) -> dict[str, str | float]:
    return {
        "object": name,
        "url": url,
        "start": round(start, 3),
        "end": round(end, 3),
        "what": what,
        "shade": SHADES[what],
        "of": str(number),
        "order": order,
    }


def _short(url: str) -> str:
    path = urlsplit(url).path.rstrip("/")
    name = path.rsplit("/", 1)[-1] or urlsplit(url).netloc
    return name if len(name) <= NAME_CHARACTERS_MAX else name[: NAME_CHARACTERS_MAX - 1] + "…"


def _line(
    at_ms: Sequence[float],
    values: Sequence[float],
    number: int,
    what: str,
    domain: tuple[float, float],
) -> alt.Chart:
    within = [
        (ms, value) for ms, value in zip(at_ms, values, strict=True) if domain[0] <= ms <= domain[1]
    ]
    step = max(1, -(-len(within) // POINTS_MAX))
    rows = [
        {"ms": round(ms, 3), "value": round(value, 3), "of": str(number)}
        for ms, value in within[::step]
    ]
    return alt.Chart(alt.InlineData(values=rows)).encode(
        x=_x("ms", domain),
        color=_colour(),
        tooltip=[
            alt.Tooltip("ms:Q", format=".1f"),
            alt.Tooltip("value:Q", format=".1f", title=what),
        ],
    )


def _layer(layers: Sequence[alt.Chart], height: int) -> JsonObject:
    return specification(layer_charts(*layers).properties(width="container", height=height))


def _x(field: str, domain: tuple[float, float]) -> alt.X:
    return alt.X(
        f"{field}:Q",
        title="ms from navigation start",
        scale=alt.Scale(domain=list(domain), nice=False),
    )


def _y() -> alt.Y:
    return alt.Y("value:Q", title=None, axis=_axis())


def _axis(**more: Any) -> alt.Axis:
    return alt.Axis(minExtent=LABEL_PX, maxExtent=LABEL_PX, labelLimit=LABEL_PX - 4, **more)


def _colour() -> alt.Color:
    # The pages' palette; its first colour is that of references, which do not occur here.
    return alt.Color("of:N", scale=alt.Scale(domain=["0", "1", "2"]), legend=None)


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
            .encode(
                x=_path_chart_x(),
                y=_path_chart_y("Mbit/s"),
                color=_path_chart_colour(names, colours),
            )
        )
    for name, values in (("arriving", series.arrived_mbit_s), ("leaving", series.departed_mbit_s)):
        layers.append(
            _rows(series.at_s, values, name)
            .mark_line(interpolate="step-after", strokeWidth=1.5)
            .encode(
                x=_path_chart_x(),
                y=_path_chart_y("Mbit/s"),
                color=_path_chart_colour(names, colours),
            )
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
        .encode(x=_path_chart_x(), y=_path_chart_y("ms"), color=_path_chart_colour(names, colours))
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


def _path_chart_x() -> alt.X:
    return alt.X("s:Q", title="seconds", scale=alt.Scale(nice=False))


def _path_chart_y(unit: str) -> alt.Y:
    return alt.Y("v:Q", title=unit, scale=alt.Scale(zero=True))


def _path_chart_colour(names: list[str], colours: list[str]) -> alt.Color:
    return alt.Color("of:N", scale=alt.Scale(domain=names, range=colours))
