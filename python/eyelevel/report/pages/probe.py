"""The report on probes: one HTML file that needs no network, in the style of a run's report."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from eyelevel.analysis.formats import format_p_equation
from eyelevel.figures.distribution import curves_chart
from eyelevel.json_types import JsonMapping, JsonObject
from eyelevel.probes.analysis import (
    NO_CLEAR_DIFFERENCE,
    PERCENTS,
    THRESHOLDS_MS,
    Analysis,
    file_labels,
)
from eyelevel.probes.protocols import FAILURE_CLASSES, THESIS_NAMES
from eyelevel.report.html import Markup, element, join, table, titled_section
from eyelevel.report.shell import shell
from eyelevel.stats.estimate import UNDETERMINED

TITLE = "How long connections take"


def write_probe_page(path: Path, analysis: Analysis) -> Path:
    """Write the page; the same rows give the same bytes."""
    path.write_text(probe_page(analysis), encoding="utf-8")
    return path


def probe_page(analysis: Analysis) -> str:
    """The whole page as text."""
    charts = _charts(analysis)
    main = element(
        "main",
        _opening(analysis),
        titled_section("differences", "Paired differences", _differences(analysis, charts)),
        titled_section("times", "Connection and DNS times", _times(analysis, charts)),
        titled_section("failures", "Failures and split connections", _failures(analysis)),
    )
    specifications = {f"chart-{i}": spec for i, (_, _, spec) in enumerate(charts)}
    return shell(TITLE, main, {"specs": specifications}, "probe.js")


def _opening(analysis: Analysis) -> Markup:
    rows, hosts = analysis.table.height, analysis.table["host"].n_unique()
    labels = file_labels(analysis.table["file"].unique(maintain_order=True))
    return element(
        "header",
        element("h1", TITLE),
        element(
            "p",
            f"{rows} measurements of {hosts} hosts from "
            f"{len(labels)} {'file' if len(labels) == 1 else 'files'}: "
            f"{', '.join(labels.values())}. Each row of A in file order is "
            "paired with the first row of B of the same URL, family and vantage point at most 60 s "
            "apart; A - B is positive where B is faster. Intervals are of 95% over hosts: rows of "
            "one host are no independent evidence. A protocol is called faster where the sign test "
            "of the hosts' medians says so, corrected after Holm over all files and comparisons.",
        ),
        _found(analysis.pairs, labels),
    )


def _found(pairs: Iterable[JsonMapping], labels: Mapping[str, str]) -> Markup:
    """A sentence for each comparison that rests on hosts enough for an interval."""
    sentences = []
    for pair in pairs:
        share, a, b = pair["share_above_0"], pair["a"], pair["b"]
        if share["low"] is None:
            continue
        often = (
            f"{b} took less time than {a} in {share['value']:.1%} of {pair['n']} pairs "
            f"({share['low']:.1%} to {share['high']:.1%})"
        )
        text = f"{labels[pair['file']]}: {_verdict(pair)}; {often}."
        claimed = pair["verdict"] in ("a faster", "b faster")
        sentences.append(element("li", text, **({} if claimed else {"class_": "unclear"})))
    return element("ul", *sentences) if sentences else join([])


def _verdict(pair: JsonMapping) -> str:
    """What is claimed of the median host, with its interval, or that nothing is."""
    a, b, median = pair["a"], pair["b"], pair["median_host_ms"]
    hosts = f"{pair['hosts']} hosts"
    if median["low"] is None:
        return (
            f"{a} - {b} is {median['value']:+.1f} ms in the median host, {UNDETERMINED} ({hosts})"
        )
    p = f"{format_p_equation(pair['p_holm'])} among all comparisons"
    low, high = median["low"], median["high"]
    if pair["verdict"] == NO_CLEAR_DIFFERENCE:
        return (
            f"no clear difference between {a} and {b}: {a} - {b} is {median['value']:+.1f} ms in "
            f"the median host (95 % interval {low:+.1f} to {high:+.1f} ms, {hosts}, {p})"
        )
    faster, slower = (b, a) if pair["verdict"] == "b faster" else (a, b)
    low, high = sorted((abs(low), abs(high)))
    return (
        f"{faster} was faster than {slower}, by {abs(median['value']):.1f} ms in the median host "
        f"(95 % interval {low:.1f} to {high:.1f} ms, {hosts}, {p})"
    )


Chart = tuple[str, Mapping[str, int], JsonObject]


def _charts(analysis: Analysis) -> list[Chart]:
    """Title, curves with their colours' numbers, and specification; differences first."""
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
    good = analysis.table.filter(pl.col("failure").is_null() & ~pl.col("resumed"))
    parts = good.drop_nulls("family").partition_by(["family", "vantage"], as_dict=True)
    for what, title in (("connection_ms", "connection time"), ("dns_ms", "DNS lookup time")):
        for (family, vantage), rows in sorted(parts.items(), key=str):
            samples = _by_protocol(rows, what)
            if samples:
                part_title = f"{title}, {family}" + (f", from {vantage}" if vantage else "")
                charts.append(_chart(part_title, samples, "ms", list(THESIS_NAMES)))
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


def _figures(charts: Sequence[Chart], chosen: str) -> Markup:
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


def _differences(analysis: Analysis, charts: Sequence[Chart]) -> Markup:
    labels = file_labels(analysis.table["file"].unique(maintain_order=True))
    by_file = table(
        "A - B in milliseconds, by file",
        ("file", "A - B", "pairs", "hosts", *_names()),
        (tuple(_difference_row(labels[row["file"]], row)) for row in analysis.pairs),
        class_="differences",
    )
    by_group = table(
        "A - B in milliseconds, by address family and vantage point",
        ("group", "A - B", "pairs", "hosts", *_names()),
        (
            tuple(_difference_row(f"{row['family']}, {row['vantage']}", row))
            for row in analysis.groups
        ),
        class_="differences",
    )
    return join([_figures(charts, "differences"), by_file, by_group])


def _names() -> list[str]:
    return [f"p{p}" for p in PERCENTS] + [f"above {t} ms" for t in THRESHOLDS_MS]


def _difference_row(name: str, row: JsonMapping) -> Iterable[object]:
    yield from (name, f"{row['a']} - {row['b']}", row["n"], row["hosts"])
    for p in PERCENTS:
        yield _with_interval(row[f"p{p}_ms"], "{:.3f}")
    for t in THRESHOLDS_MS:
        yield _with_interval(row[f"share_above_{t}"], "{:.1%}")


def _with_interval(estimate: JsonMapping, form: str) -> Markup:
    low, high = estimate["low"], estimate["high"]
    text = form.format(estimate["value"])
    if low is None or high is None:
        return join([text])
    return join([text, element("small", f" [{form.format(low)}, {form.format(high)}]")])


def _times(analysis: Analysis, charts: Sequence[Chart]) -> Markup:
    names = {"connection_ms": "connection", "tcp_ms": "TCP handshake", "dns_ms": "DNS"}
    rows = (
        (
            names[row["what"]],
            row["protocol"] + (", resumed" if row["resumed"] else ""),
            row["family"] or "unknown",
            row["vantage"] or "unnamed",
            row["n"],
            row["hosts"],
            *(_with_interval(row[f"p{p}_ms"], "{:.3f}") for p in PERCENTS),
        )
        for row in analysis.times
    )
    columns = ("time", "protocol", "family", "vantage", "n", "hosts", *_names()[: len(PERCENTS)])
    return join(
        [
            _figures(charts, "connection time"),
            _figures(charts, "DNS"),
            table("Milliseconds of successful attempts", columns, rows, class_="differences"),
        ]
    )


def _failures(analysis: Analysis) -> Markup:
    rows = []
    for row in analysis.failures:
        classes = ", ".join(
            f"{name}: {count} ({FAILURE_CLASSES.get(name, 'unknown class')})"
            for name, count in row["classes"].items()
        )
        split = row["split_connections"]
        cells = (row["protocol"], row["attempts"], row["failed"], classes or "none")
        rows.append((*cells, "not recorded" if split is None else split))
    columns = ("protocol", "attempts", "failed", "by class", "split by a proxy")
    return table("Every attempt ends in a time or in one class", columns, rows)
