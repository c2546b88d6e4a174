"""One connection or two on one time axis: one HTML file that needs no network."""

from collections.abc import Sequence

from eyelevel.analysis.connections import Timeline
from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.connection_charts import (
    OBJECTS_MAX,
    end_ms,
    loss_chart,
    rtt_chart,
    start_ms,
    waterfall,
    window_chart,
)
from eyelevel.report.html import Markup, element, make_titled_section, table
from eyelevel.report.shell import shell

Rows = Sequence[tuple[str, Sequence[str]]]


def connection_page(timelines: Sequence[Timeline], names: Sequence[str], summary: Rows) -> str:
    """Return the page as text; `names` of the timelines, `summary` with one row per fact."""
    domain = (start_ms(timelines), end_ms(timelines))
    figures: list[tuple[str, Markup, JsonObject]] = []
    for number, timeline in enumerate(timelines, start=1):
        cut = f", the first {OBJECTS_MAX}" if len(timeline.objects) > OBJECTS_MAX else ""
        title = f"Objects{cut}: waiting light, receiving full"
        figures.append((title, _key(number, names), waterfall(timeline, number, domain)))
    if any(timeline.transport for timeline in timelines):
        both = Markup("".join(_key(number, names) for number in range(1, len(timelines) + 1)))
        figures += [
            (
                "Congestion window (dashed) and bytes in flight, kB",
                both,
                window_chart(timelines, domain),
            ),
            ("Round trip, smoothed by the sender, ms", both, rtt_chart(timelines, domain)),
            ("Packets lost (QUIC) or sent again (TCP)", both, loss_chart(timelines, domain)),
        ]
    title = " and ".join(names)
    main = element(
        "main",
        element(
            "header",
            element("h1", title),
            element(
                "p",
                f"{timelines[0].site} over {timelines[0].network}. All times are milliseconds "
                "from navigation start; windows, bytes in flight, round trips and losses are the "
                "server's.",
            ),
        ),
        make_titled_section(
            "numbers",
            "In numbers",
            table("The connection", ("", *names), [(name, *values) for name, values in summary]),
        ),
        make_titled_section(
            "axis",
            "On one time axis",
            *(_figure(index, *figure) for index, figure in enumerate(figures)),
        ),
    )
    specifications = {f"chart-{index}": chart for index, (_, _, chart) in enumerate(figures)}
    return shell(title, main, {"specs": specifications}, "probe.js")


def _key(number: int, names: Sequence[str]) -> Markup:
    swatch = element("span", class_=f"swatch stack-{number}", aria_hidden="true")
    return element("span", swatch, names[number - 1], class_="key")


def _figure(index: int, title: str, keys: Markup, _specification: JsonObject) -> Markup:
    chart = element("div", id=f"chart-{index}", class_="chart", role="group", aria_label=title)
    return element(
        "figure",
        element("figcaption", title),
        element("span", keys, class_="legend"),
        chart,
    )
