"""The tables of a report on probes."""

from collections.abc import Iterable

from eyelevel.base.json_types import JsonMapping
from eyelevel.probes.analysis import Analysis, file_labels
from eyelevel.probes.datasets import period
from eyelevel.probes.differences import THRESHOLDS_MS
from eyelevel.probes.protocols import FAILURE_CLASSES
from eyelevel.probes.times import FILES_MAX, PERCENTS, are_merged
from eyelevel.report.html import Markup, element, join, table


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


def differences(analysis: Analysis) -> Markup:
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
        yield with_interval(row[f"p{p}_ms"], "{:.3f}")
    for t in THRESHOLDS_MS:
        yield with_interval(row[f"share_above_{t}"], "{:.1%}")


def with_interval(estimate: JsonMapping, form: str) -> Markup:
    """Return the value, and its interval in small type if it has one."""
    if estimate["value"] is None:
        return join(["none"])
    low, high = estimate["low"], estimate["high"]
    text = form.format(estimate["value"])
    if low is None or high is None:
        return join([text])
    return join([text, element("small", f" [{form.format(low)}, {form.format(high)}]")])


def times(analysis: Analysis) -> Markup:
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
            *(with_interval(row[f"p{p}_ms"], "{:.3f}") for p in PERCENTS),
        )
        for row in analysis.times
    )
    what = ("time", "protocol", "file", "family", "vantage", "n", "hosts")
    columns = (*what, *_names()[: len(PERCENTS)])
    shown = table("Milliseconds of successful attempts", columns, rows, class_="differences")
    if not are_merged(analysis.table):
        return shown
    merged = (
        f"There are {len(labels)} files, more than {FILES_MAX}: times and their curves are of all "
        "files of one vantage point and family together."
    )
    return join([element("p", merged), shown])


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
