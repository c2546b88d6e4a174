"""The report on probes: one HTML file that needs no network, in the style of a run's report.

After the first screen, which says in words what was found of the median host: datasets, paired
differences and times as tables and as cumulative distributions, conditions (address families,
resumption, 0-RTT), who served (CDNs), and failures.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from eyelevel.analysis.formats import format_p_equation
from eyelevel.analysis.stats.estimate import UNDETERMINED
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.probes.analysis import Analysis, file_labels
from eyelevel.probes.cdn import UNKNOWN, ByCdn, describe_evidence
from eyelevel.probes.differences import (
    FILES_MAX,
    NO_CLEAR_DIFFERENCE,
    PERCENTS,
    THRESHOLDS_MS,
    are_merged,
)
from eyelevel.probes.protocols import FAILURE_CLASSES, THESIS_NAMES
from eyelevel.probes.reading import period
from eyelevel.report.charts.distribution import curves_chart
from eyelevel.report.html import Markup, element, join, make_titled_section, table
from eyelevel.report.shell import shell
from eyelevel.store.disk import write_result

TITLE = "How long connections take"
SENTENCES_SHOWN = 4


def write_probe_page(path: Path, analysis: Analysis) -> Path:
    """Write the page; the same rows give the same bytes."""
    write_result(path, probe_page(analysis))
    return path


def probe_page(analysis: Analysis) -> str:
    """Return the page as text."""
    charts = _charts_of(analysis)
    differences = join([figures(charts, "differences"), _differences_table(analysis)])
    times = join(
        [
            figures(charts, "connection time"),
            figures(charts, "DNS"),
            _times_table(analysis),
        ]
    )
    main = element(
        "main",
        _opening(analysis),
        make_titled_section("datasets", "What was measured", datasets(analysis)),
        make_titled_section("differences", "Paired differences", differences),
        *_conditions_section(analysis.conditions),
        section(analysis.by_cdn),
        make_titled_section("times", "Connection and DNS times", times),
        make_titled_section("failures", "Failures and split connections", failures(analysis)),
    )
    specifications = {f"chart-{i}": spec for i, (_, _, spec) in enumerate(charts)}
    return shell(TITLE, main, {"specs": specifications}, "probe.js")


def _opening(analysis: Analysis) -> Markup:
    rows, hosts = analysis.table.height, analysis.table["host"].n_unique()
    labels = file_labels(analysis.table["file"].unique(maintain_order=True))
    found = [*_list_findings(analysis.pairs, labels), *_describe_conditions(analysis.conditions)]
    return element(
        "header",
        element("h1", TITLE),
        element(
            "p",
            f"{rows} measurements of {hosts} hosts from "
            f"{len(labels)} {'file' if len(labels) == 1 else 'files'}.",
        ),
        *_list_sentences(found),
        element(
            "p",
            "Each row of A in file order is paired with the first row of B of the same URL, family "
            "and vantage point at most 60 s apart; A - B is positive where B is faster. Intervals "
            "are of 95% over hosts: rows of one host are no independent evidence. A protocol is "
            "called faster where the sign test of the hosts' medians says so, corrected after Holm "
            "over all files and comparisons.",
        ),
    )


def _list_sentences(sentences: Sequence[Markup]) -> list[Markup]:
    """Return the first sentences, in the files' order, and the others in an element that
    unfolds."""
    lists = [element("ul", *sentences[:SENTENCES_SHOWN])] if sentences else []
    if more := sentences[SENTENCES_SHOWN:]:
        summary = f"{len(more)} more {'comparison' if len(more) == 1 else 'comparisons'}"
        lists.append(element("details", element("summary", summary), element("ul", *more)))
    return lists


def _list_findings(pairs: Iterable[JsonMapping], labels: Mapping[str, str]) -> list[Markup]:
    """Return a sentence for each comparison with enough hosts for an interval."""
    sentences = []
    for pair in pairs:
        share, a, b = pair["share_above_0"], pair["a"], pair["b"]
        if share["low"] is None:
            continue
        often = (
            f"{b} took less time than {a} in {share['value']:.1%} of {pair['n']} pairs "
            f"({share['low']:.1%} to {share['high']:.1%})"
        )
        text = f"{labels[pair['file']]}: {verdict_sentence(pair)}; {often}."
        claimed = pair["verdict"] in ("a faster", "b faster")
        sentences.append(element("li", text, **({} if claimed else {"class_": "unclear"})))
    return sentences


def datasets(analysis: Analysis) -> Markup:
    """Return one row per file, as in table 3.1 of the thesis."""
    labels = file_labels(analysis.table["file"].unique(maintain_order=True))
    rows = (
        (
            labels[row["file"]],
            row["samples"],
            period(row),
            ", ".join(row["vantages"]) or "unnamed",
            ", ".join(row["families"]) or "unknown",
            row["hosts"],
            row["failures"],
        )
        for row in analysis.datasets
    )
    columns = ("file", "samples", "measured (UTC)", "vantage", "family", "hosts", "failures")
    return table("Every attempt is a sample, the failed ones, too", columns, rows)


def _differences_table(analysis: Analysis) -> Markup:
    """Return percentiles and shares of A - B: by file, then by family and vantage point."""
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
    return join([by_file, by_group])


def _names() -> list[str]:
    return [f"p{p}" for p in PERCENTS] + [f"above {t} ms" for t in THRESHOLDS_MS]


def _difference_row(name: str, row: JsonMapping) -> Iterable[object]:
    yield from (name, f"{row['a']} - {row['b']}", row["n"], row["hosts"])
    for p in PERCENTS:
        yield _with_interval(row[f"p{p}_ms"], "{:.3f}")
    for t in THRESHOLDS_MS:
        yield _with_interval(row[f"share_above_{t}"], "{:.1%}")


def _with_interval(estimate: JsonMapping, form: str) -> Markup:
    """Return the value, and its interval in small type if it has one."""
    if estimate["value"] is None:
        return join(["none"])
    low, high = estimate["low"], estimate["high"]
    text = form.format(estimate["value"])
    if low is None or high is None:
        return join([text])
    return join([text, element("small", f" [{form.format(low)}, {form.format(high)}]")])


def _times_table(analysis: Analysis) -> Markup:
    """Return percentiles of times, with a note if several files share a row."""
    labels = file_labels(analysis.table["file"].unique(maintain_order=True))
    names = {"connection_ms": "connection", "tcp_ms": "TCP handshake", "dns_ms": "DNS"}
    rows = (
        (
            names[row["what"]],
            row["protocol"] + (", resumed" if row["resumed"] else ""),
            labels.get(row["file"], "all"),
            row["family"] or "unknown",
            row["vantage"] or "unnamed",
            row["n"],
            row["hosts"],
            *(_with_interval(row[f"p{p}_ms"], "{:.3f}") for p in PERCENTS),
        )
        for row in analysis.times
    )
    what = ("time", "protocol", "file", "family", "vantage", "n", "hosts")
    columns = (*what, *_names()[: len(PERCENTS)])
    markup = table("Milliseconds of successful attempts", columns, rows, class_="differences")
    if not are_merged(analysis.table):
        return markup
    merged = (
        f"There are {len(labels)} files, more than {FILES_MAX}: times and their curves are of all "
        "files of one vantage point and family together."
    )
    return join([element("p", merged), markup])


def failures(analysis: Analysis) -> Markup:
    """Return how often each protocol failed, and the classes of failures."""
    rows = []
    for row in analysis.failures:
        classes = ", ".join(
            f"{name}: {count} ({FAILURE_CLASSES.get(name, 'unknown class')})"
            for name, count in row["classes"].items()
        )
        split = row["split_connections"]
        cells = (row["protocol"], row["attempts"], row["failed"], classes or "none")
        rows.append((*cells, "not recorded" if split is None else split))
    columns = ("protocol", "attempts", "failed", "by class", "split, or slow to answer")
    return table("Every attempt ends in a time or in one class", columns, rows)


Chart = tuple[str, Mapping[str, int], JsonObject]


def _charts_of(analysis: Analysis) -> list[Chart]:
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
            samples = _values_by_protocol(rows, what)
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


def _values_by_protocol(rows: pl.DataFrame, what: str) -> dict[str, np.ndarray]:
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


CDNS_SHOWN = 30
"""The most CDNs on the page, those with most hosts; --json has all."""
SHARES = {"tls1.3": "TLS 1.3", "quic": "QUIC"}
EXPLAINED = (
    "Who served a row is identified by the names that its host stands for (CNAME), by the CDN's "
    "own documentation of them; else by the field Server of the host's answers from that address; "
    "else it stands with the other hosts of its /24 or /48, whose operator is not guessed. A host "
    "counts with each CDN that served it. Hosts of two CDNs are other hosts: times by CDN describe "
    "them, and do not say that the CDN is the cause. Differences compare each host with itself."
)


def section(found: ByCdn) -> Markup:
    """Return the section on CDNs."""
    largest = found.cdns[:CDNS_SHOWN]
    names = {row["cdn"] for row in largest}
    untold = next((row for row in found.cdns if row["cdn"] == UNKNOWN), None)
    notes = []
    if untold:
        hosts = "1 host" if untold["hosts"] == 1 else f"{untold['hosts']} hosts"
        counts = f"{untold['samples']} samples of {hosts}"
        notes.append(element("p", f"Of {counts} nothing tells who served them: unknown."))
    if len(found.cdns) > len(largest):
        rest = f"The {CDNS_SHOWN} with most hosts of {len(found.cdns)} are shown; --json has all."
        notes.append(element("p", rest))
    return make_titled_section(
        "cdns",
        "By CDN",
        element("p", EXPLAINED),
        *notes,
        _format_served_table(found, largest),
        _times(row for row in found.times if row["cdn"] in names),
        _differences(row for row in found.pairs if row["cdn"] in names),
    )


def _format_served_table(found: ByCdn, cdns: Sequence[JsonMapping]) -> Markup:
    shares = {(row["cdn"], row["protocol"]): row for row in found.connected}
    rows = (
        (
            row["cdn"],
            describe_evidence(row),
            row["hosts"],
            row["samples"],
            *(_share(shares.get((row["cdn"], protocol))) for protocol in SHARES),
        )
        for row in cdns
    )
    connects = (f"{title}: hosts that connected" for title in SHARES.values())
    columns = ("served by", "identified by", "hosts", "samples", *connects)
    return table("Hosts by who served them", columns, rows, class_="differences")


def _share(row: JsonMapping | None) -> object:
    if row is None:
        return "not tried"
    if row["share"]["value"] is None:
        return "unknown: these files hold no failures"
    share = _with_interval(row["share"], "{:.1%}")
    return Markup(f"{row['connected']} of {row['hosts']}, {share}")


def _times(rows: Iterable[JsonMapping]) -> Markup:
    cells = (
        (
            row["cdn"],
            row["protocol"],
            row["family"] or UNKNOWN,
            row["vantage"] or "unnamed",
            row["n"],
            row["hosts"],
            _with_interval(row["p50_ms"], "{:.1f}"),
            _with_interval(row["p90_ms"], "{:.1f}"),
        )
        for row in rows
    )
    columns = ("served by", "protocol", "family", "vantage", "samples", "hosts", "median", "p90")
    caption = "Connection times in milliseconds, of full handshakes"
    return table(caption, columns, cells, class_="differences")


def _differences(rows: Iterable[JsonMapping]) -> Markup:
    cells = (
        (
            row["cdn"],
            f"{row['a']} - {row['b']}",
            row["n"],
            row["hosts"],
            _with_interval(row["median_host_ms"], "{:+.1f}"),
            _with_interval(row["share_above_0"], "{:.1%}"),
            _verdict(row),
        )
        for row in rows
    )
    columns = ("served by", "A - B", "pairs", "hosts", "median host", "above 0", "verdict")
    caption = "A - B in milliseconds, host by host: above 0, B is faster"
    return table(caption, columns, cells, class_="differences")


def _verdict(row: JsonMapping) -> str:
    faster = {"a faster": row["a"], "b faster": row["b"]}.get(row["verdict"])
    return f"{faster} faster" if faster else str(row["verdict"])


HOSTS_SHOWN = 30
"""The most hosts of a comparison on the page, those farthest from 0; --json has all."""
TIMES = {"connection_ms": "connection time", "first_byte_ms": "time to the first byte"}


def _describe_conditions(conditions: Iterable[JsonMapping]) -> list[Markup]:
    """Return a sentence for each comparison with enough pairs for an interval."""
    sentences = []
    for row in conditions:
        if row["median_host_ms"]["low"] is None:
            continue
        text = f"{_over(row)}, in {TIMES[row['what']]}: {verdict_sentence(row)}."
        claimed = row["verdict"] in ("a faster", "b faster")
        sentences.append(element("li", text, **({} if claimed else {"class_": "unclear"})))
    return sentences


def _conditions_section(conditions: Sequence[JsonMapping]) -> list[Markup]:
    """Return the section; empty if no protocol was measured under two conditions."""
    if not conditions:
        return []
    columns = ("A - B", "over", "time", "pairs", "hosts", "A alone", "B alone", "median host")
    rows = (
        (
            f"{row['a']} - {row['b']}",
            _over(row),
            TIMES[row["what"]],
            row["n"],
            row["hosts"],
            row["hosts_a_alone"],
            row["hosts_b_alone"],
            _with_interval(row["median_host_ms"], "{:+.3f}"),
        )
        for row in conditions
    )
    explained = (
        "Each host is compared with itself, over one protocol and from one vantage point, by rows "
        "that are the nearest in time and at most 60 s apart. Hosts that were measured under one "
        "condition alone are counted and compared with nothing: two lists of hosts differ by their "
        "hosts. A handshake is full if no session was offered; rows whose early data was rejected "
        "are in no comparison."
    )
    tables = [
        element("p", explained),
        table("A - B in milliseconds, by host", columns, rows, class_="differences"),
        *(_by_host(row) for row in conditions if row["by_host"]),
    ]
    return [make_titled_section("conditions", "Families, resumption and 0-RTT", *tables)]


def _over(row: JsonMapping) -> str:
    return f"{row['protocol']} from {row['vantage'] or 'an unnamed place'}"


def _by_host(row: JsonMapping) -> Markup:
    hosts = sorted(row["by_host"], key=lambda host: -abs(host["median_ms"]))[:HOSTS_SHOWN]
    of_all = (
        f": the {len(hosts)} of {row['hosts']} hosts that are farthest from 0"
        if (len(hosts) < row["hosts"])
        else ""
    )
    title = f"{row['a']} - {row['b']}, {_over(row)}{of_all}"
    cells = ((host["host"], host["n"], f"{host['median_ms']:+.3f}") for host in hosts)
    of_hosts = table(title, ("host", "pairs", "median, ms"), cells)
    return element("details", element("summary", title), of_hosts)


def verdict_sentence(pair: JsonMapping) -> str:
    """Return the claim about the median host with its interval, or that there is none."""
    a, b, median = pair["a"], pair["b"], pair["median_host_ms"]
    hosts = f"{pair['hosts']} hosts"
    if median["low"] is None:
        return (
            f"{a} - {b} is {median['value']:+.1f} ms in the median host, {UNDETERMINED} ({hosts})"
        )
    p = f"{format_p_equation(pair['p_holm'])} after correction for all comparisons"
    low, high = median["low"], median["high"]
    if pair["verdict"] == UNDETERMINED:
        return (
            f"{a} - {b} is {median['value']:+.1f} ms in the median host, {UNDETERMINED}: too few "
            f"hosts for so many comparisons (95 % interval {low:+.1f} to {high:+.1f} ms, {hosts}, "
            f"{p})"
        )
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
