"""The charts of a report on probes: differences and times as cumulative distributions."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from eyelevel.base.json_types import JsonObject
from eyelevel.probes.analysis import Analysis, file_labels
from eyelevel.probes.protocols import THESIS_NAMES
from eyelevel.probes.times import are_merged
from eyelevel.report.charts.distribution import curves_chart
from eyelevel.report.html import Markup, element

Chart = tuple[str, Mapping[str, int], JsonObject]


def charts_of(analysis: Analysis) -> list[Chart]:
    """Return title, curves with their colour numbers, and specification; differences first."""
    charts: list[Chart] = []
    labels = file_labels(analysis.table["file"].unique(maintain_order=True))
    for a, b in dict.fromkeys((pair["a"], pair["b"]) for pair in analysis.pairs):
        samples = {
            labels[file]: values
            for (file, first, second), values in analysis.differences.items()
            if (first, second) == (a, b)
        }
        x_title = f"{a} - {b}, ms: right of 0 {b} is faster"
        charts.append(_chart(f"differences {a} - {b}", samples, x_title, list(labels.values())))
    return charts + _curves_of_times(analysis.table, labels)


def _curves_of_times(table: pl.DataFrame, labels: Mapping[str, str]) -> list[Chart]:
    """Return a chart per file, or per vantage point for many files (figures 4.1 to 4.24)."""
    charts: list[Chart] = []
    good = table.filter(pl.col("failure").is_null() & ~pl.col("resumed")).drop_nulls("family")
    keys = ["family", "vantage"] if are_merged(table) else ["file", "family", "vantage"]
    parts = good.partition_by(keys, as_dict=True, maintain_order=True)
    if are_merged(table):
        parts = dict(sorted(parts.items(), key=str))
    for what, title in (("connection_ms", "connection time"), ("dns_ms", "DNS lookup time")):
        for (*file, family, vantage), rows in parts.items():
            samples = _by_protocol(rows, what)
            if samples:
                where = f"{family}, from {vantage}" if vantage else f"{family}"
                of_file = f" in {labels[file[0]]}" if file else ""
                chart = _chart(f"{title}{of_file}, {where}", samples, "ms", list(THESIS_NAMES))
                charts.append(chart)
    return charts


def _chart(
    title: str, samples: Mapping[str, np.ndarray], x_title: str, names: Sequence[str]
) -> Chart:
    colours = {name: names.index(name) for name in samples}
    return title, colours, curves_chart(samples, x_title, names)


def _by_protocol(rows: pl.DataFrame, what: str) -> dict[str, np.ndarray]:
    samples = {}
    for protocol in THESIS_NAMES:
        values = rows.filter(pl.col("protocol") == protocol)[what].drop_nulls().to_numpy()
        if values.size:
            samples[protocol] = values
    return samples


def figures(charts: Sequence[Chart], chosen: str) -> Markup:
    """Return the charts whose title begins with `chosen`, each with its legend."""
    figures = []
    for index, (title, names, _) in enumerate(charts):
        if title.startswith(chosen):
            keys = [
                element(
                    "span",
                    element("span", class_=f"swatch stack-{n % 8}", aria_hidden="true"),
                    name,
                    class_="key",
                )
                for name, n in names.items()
            ]
            chart = element(
                "div", id=f"chart-{index}", class_="chart", role="group", aria_label=title
            )
            legend = element("span", *keys, class_="legend")
            figures.append(element("figure", element("figcaption", title), legend, chart))
    return element("div", *figures, class_="pair")
