"""Print the tables and figures of the thesis's chapter 4 (`eyelevel probe report`).

Print `eyelevel probe report` by CDN, and format estimates and verdicts.
"""

import re
from pathlib import Path
from typing import Annotated

import typer
from rich.measure import Measurement
from rich.text import Text

from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.cli.finish import OpenOption, PageOption, check_opens, end_at
from eyelevel.cli.output import print_json, results, table
from eyelevel.probes.analysis import Analysis, analyse, file_labels
from eyelevel.probes.cdn import GROUP, UNKNOWN, ByCdn, attribute_cdns, describe_evidence, read_marks
from eyelevel.probes.reading import period, read_files
from eyelevel.probes.selection import only_cdns, select_connected_by, select_hosts
from eyelevel.probes.targets import parse_protocols
from eyelevel.report.pages.probe import write_probe_page

QUANTILES = ("p5_ms", "p50_ms", "p95_ms")


def report(
    files: Annotated[
        list[Path], typer.Argument(help="JSON lines, Parquet files or CSVs in the thesis's format.")
    ],
    host: Annotated[
        list[str] | None, typer.Option(help="Only rows of this host. Repeatable.")
    ] = None,
    connected_by: Annotated[
        str | None,
        typer.Option(
            metavar="PROTOCOLS",
            help="Only hosts that connected over each of these, file by file: tls1.2,tls1.3,quic.",
        ),
    ] = None,
    cdn: Annotated[
        list[str] | None, typer.Option(help="Only rows that this CDN served. Repeatable.")
    ] = None,
    cdn_marks: Annotated[
        Path | None, typer.Option(help="More CDNs, in the format of the shipped table.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
    page: PageOption = None,
    open_: OpenOption = False,
) -> None:
    """Report connection times, their paired differences and DNS times from measured rows.

    The rows may come from one or many vantage points.
    """
    check_opens(open_, page, "page", "--page FILE.html")
    protocols = parse_protocols(connected_by, "--connected-by") if connected_by is not None else []
    tables = attribute_cdns(read_files(files), read_marks(cdn_marks))
    if cdn:
        tables = only_cdns(tables, cdn)
    if host:
        tables = select_hosts(tables, host)
    if connected_by is not None:
        tables = select_connected_by(tables, protocols)
    analysis = analyse(tables)
    written = write_probe_page(page, analysis) if page else None
    if as_json:
        print_json(analysis.as_json() | {"page": str(written) if written else None})
    else:
        _print_datasets(analysis)
        _print_pairs(analysis)
        _print_conditions(analysis.conditions)
        _print_by_cdn(analysis.by_cdn)
        if host:
            _print_dns(analysis.times)
    if written:
        end_at("page", written, opens=open_, as_json=as_json)


def _print_datasets(analysis: Analysis) -> None:
    numbers = ("samples", "hosts", "failures")
    columns = ("samples", "measured (UTC)", "from", "hosts", "failures")
    beside = table("", *columns, right=numbers)
    rows = {}
    for row in analysis.datasets:
        where = " ".join([*row["vantages"], *row["families"]]) or "unknown"
        counts = (str(row[name]) for name in numbers[1:])
        rows[row["file"]] = (str(row["samples"]), period(row), where, *counts)
        beside.add_row("", *rows[row["file"]])
    room = results.width - Measurement.get(results, results.options, beside).maximum
    listing = table("file", *columns, right=numbers)
    for file, label in file_labels(rows).items():
        listing.add_row(Text(parts_of_name(label, room), overflow="fold"), *rows[file])
    results.print(listing)


def parts_of_name(name: str, width: int) -> str:
    """Wrap a file's name at separators to `width`, if its parts allow that.

    Nothing is left out: a truncated name would identify no file.
    """
    lines = [""]
    for part in re.findall(r"[^-_./]+[-_./]*|[-_./]+", name):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _print_pairs(analysis: Analysis) -> None:
    for file, label in file_labels(pair["file"] for pair in analysis.pairs).items():
        results.print(label, markup=False, style="bold", soft_wrap=True)
        results.print(_table([pair for pair in analysis.pairs if pair["file"] == file]))
    if analysis.pairs:
        results.print(
            "A - B in ms: above 0, B is faster; intervals of 95 % over hosts; the verdict is of "
            "the median host, corrected for all comparisons; undetermined: too few hosts for so "
            "many",
            style="dim",
        )
    else:
        none = "no pairs: no two protocols connected to one host within 60 s, without resumption"
        results.print(none, soft_wrap=True)


def _print_conditions(conditions: list[JsonObject]) -> None:
    if not conditions:
        return
    numbers = ("pairs", "hosts", "alone")
    median = "median host, ms"
    listing = table("A - B", "over", "from", *numbers, median, "verdict", right=numbers)
    for row in conditions:
        listing.add_row(
            f"{row['a']} - {row['b']}",
            row["protocol"],
            row["vantage"] or "unnamed",
            str(row["n"]),
            str(row["hosts"]),
            f"{row['hosts_a_alone']}/{row['hosts_b_alone']}",
            interval(row["median_host_ms"]),
            _describe_verdict(row),
        )
    results.print("conditions, host by host", style="bold")
    results.print(listing)
    results.print(
        "alone: hosts under A only/B only, which are not compared; 0-RTT is compared in the "
        "time to the first byte, the rest in connection time",
        style="dim",
    )


def _print_dns(times: list[JsonObject]) -> None:
    """Print DNS times of single hosts, as in the thesis's figures 4.1 and 4.2.

    With many hosts they would be unreadable.
    """
    rows = [row for row in times if row["what"] == "dns_ms"]
    if not rows:
        results.print("no DNS times: the rows hold none", soft_wrap=True)
        return
    numbers = ("samples", *(name.removesuffix("_ms") for name in QUANTILES))
    listing = table("file", "beside", "family", "from", *numbers, right=numbers)
    for row in rows:
        listing.add_row(
            row["file"] or "all",
            row["protocol"],
            row["family"] or "unknown",
            row["vantage"] or "unnamed",
            str(row["n"]),
            *(f"{row[name]['value']:.1f}" for name in QUANTILES),
        )
    results.print("DNS times in ms, with the first attempt over the protocol", style="bold")
    results.print(listing)


def _table(pairs: list[JsonObject]) -> object:
    titles = [name.removesuffix("_ms") for name in QUANTILES]
    share = "% above 0"
    numbers = ("pairs", "hosts", *titles)
    listing = table("A - B", *numbers, share, "verdict", right=numbers)
    for pair in pairs:
        share_above = pair["share_above_0"]
        low, high = share_above["low"], share_above["high"]
        interval = "" if low is None else f" [{100 * low:.1f}, {100 * high:.1f}]"
        listing.add_row(
            f"{pair['a']} - {pair['b']}",
            str(pair["n"]),
            str(pair["hosts"]),
            *(f"{pair[name]['value']:.3f}" for name in QUANTILES),
            f"{100 * share_above['value']:.1f}{interval}",
            _describe_verdict(pair),
        )
    return listing


CDNS_SHOWN = 8
"""Number of CDNs printed, those with most hosts; --json and the page have all."""
SHARES = {"tls1.3": "TLS 1.3", "quic": "QUIC"}


def _print_by_cdn(found: ByCdn) -> None:
    """Print the CDNs, how many hosts connect, times, and differences.

    Prints one line if no CDN is known.
    """
    if [row["cdn"] for row in found.cdns] in ([], [UNKNOWN]):
        none = "by CDN: unknown, since no CNAME, answer or group of addresses identifies one"
        results.print(none, style="dim", soft_wrap=True)
        return
    largest = {row["cdn"] for row in found.cdns[:CDNS_SHOWN]}
    results.print("by CDN", style="bold")
    results.print(_cdn_table(found, largest))
    results.print(_times([row for row in found.times if row["cdn"] in largest]))
    if pairs := [row for row in found.pairs if row["cdn"] in largest]:
        results.print(_differences(pairs))
    left = len(found.cdns) - len(largest)
    more = f"; {left} more are in --json" if left else ""
    results.print(
        "connected: hosts, with 95 %; medians in ms, with 95 % over hosts; a host counts with each "
        f"CDN that served it; verdicts are corrected over this table{more}",
        style="dim",
    )


def _cdn_table(found: ByCdn, cdns: set[str]) -> object:
    numbers = ("hosts", "samples")
    columns = (
        "served by",
        "identified by",
        *numbers,
        *(f"{title} connects" for title in SHARES.values()),
    )
    listing = table(*columns, right=numbers)
    shares = {(row["cdn"], row["protocol"]): row for row in found.connected}
    for row in found.cdns:
        if row["cdn"] in cdns:
            connects = (_share(shares.get((row["cdn"], protocol))) for protocol in SHARES)
            counts = (str(row[name]) for name in numbers)
            listing.add_row(_name(row["cdn"]), describe_evidence(row), *counts, *connects)
    return listing


def _share(row: JsonMapping | None) -> str:
    if row is None:
        return "not tried"
    share = row["share"]
    if share["value"] is None:
        return UNKNOWN
    return f"{row['connected']}/{row['hosts']} [{share['low']:.0%}, {share['high']:.0%}]"


def _times(rows: list[JsonObject]) -> object:
    numbers = ("samples", "hosts", "median")
    listing = table("served by", "over", "from", *numbers, right=numbers)
    for row in rows:
        listing.add_row(
            _name(row["cdn"]),
            row["protocol"],
            " ".join(filter(None, (row["vantage"], row["family"]))) or UNKNOWN,
            str(row["n"]),
            str(row["hosts"]),
            interval(row["p50_ms"], sign=False),
        )
    return listing


def _differences(pairs: list[JsonObject]) -> object:
    numbers = ("hosts", "median host, ms")
    listing = table("served by", "A - B", *numbers, "verdict", right=numbers)
    for pair in pairs:
        counts = (str(pair["hosts"]), interval(pair["median_host_ms"]))
        listing.add_row(
            _name(pair["cdn"]), f"{pair['a']} - {pair['b']}", *counts, _describe_verdict(pair)
        )
    return listing


def _name(cdn: str) -> Text:
    """Return a CDN's name, to be wrapped and not cut: a cut range would be another."""
    return Text(cdn.removeprefix(GROUP), overflow="fold")


def interval(estimate: JsonMapping, *, sign: bool = True, nothing: str = "no pairs") -> str:
    """Return the value, with its interval if it has one; `nothing` without a value."""
    value, low, high = estimate["value"], estimate["low"], estimate["high"]
    if value is None:
        return nothing
    form = "{:+.1f}" if sign else "{:.1f}"
    text = form.format(value)
    return text if low is None else f"{text} [{form.format(low)}, {form.format(high)}]"


def _describe_verdict(pair: JsonMapping) -> str:
    """Return the verdict with the protocol's name."""
    faster = {"a faster": pair["a"], "b faster": pair["b"]}.get(pair["verdict"])
    return f"{faster} faster" if faster else str(pair["verdict"])
