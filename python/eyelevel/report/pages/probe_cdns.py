"""The part of a report on probes about CDNs: who served, and how that changes results."""

from collections.abc import Iterable, Sequence

from eyelevel.base.json_types import JsonMapping
from eyelevel.probes.cdn.attribution import UNKNOWN
from eyelevel.probes.cdn.summary import ByCdn, describe_evidence
from eyelevel.report.html import Markup, element, table, titled_section
from eyelevel.report.pages.probe_tables import with_interval

CDNS_SHOWN = 30
"""The most CDNs on the page, those with most hosts; --json has all."""
SHARES = {"tls1.3": "TLS 1.3", "quic": "QUIC"}
EXPLAINED = (
    "Who served a row is told by the names that its host stands for (CNAME), by the CDN's own "
    "documentation of them; else by the field Server of the host's answers from that address; "
    "else it stands with the other hosts of its /24 or /48, whose operator is not guessed. A host "
    "counts with each CDN that served it. Hosts of two CDNs are other hosts: times by CDN describe "
    "them, and do not say that the CDN is the cause. Differences compare each host with itself."
)


def section(found: ByCdn) -> Markup:
    """Return the section on CDNs."""
    shown = found.cdns[:CDNS_SHOWN]
    names = {row["cdn"] for row in shown}
    untold = next((row for row in found.cdns if row["cdn"] == UNKNOWN), None)
    notes = []
    if untold:
        hosts = "1 host" if untold["hosts"] == 1 else f"{untold['hosts']} hosts"
        counts = f"{untold['samples']} samples of {hosts}"
        notes.append(element("p", f"Of {counts} nothing tells who served them: unknown."))
    if len(found.cdns) > len(shown):
        rest = f"The {CDNS_SHOWN} with most hosts of {len(found.cdns)} are shown; --json has all."
        notes.append(element("p", rest))
    return titled_section(
        "cdns",
        "By CDN",
        element("p", EXPLAINED),
        *notes,
        _format_served_table(found, shown),
        _times(row for row in found.times if row["cdn"] in names),
        _differences(row for row in found.pairs if row["cdn"] in names),
    )


def _format_served_table(found: ByCdn, shown: Sequence[JsonMapping]) -> Markup:
    shares = {(row["cdn"], row["protocol"]): row for row in found.connected}
    rows = (
        (
            row["cdn"],
            describe_evidence(row),
            row["hosts"],
            row["samples"],
            *(_share(shares.get((row["cdn"], protocol))) for protocol in SHARES),
        )
        for row in shown
    )
    connects = (f"{title}: hosts that connected" for title in SHARES.values())
    columns = ("served by", "told by", "hosts", "samples", *connects)
    return table("Hosts by who served them", columns, rows, class_="differences")


def _share(row: JsonMapping | None) -> object:
    if row is None:
        return "not tried"
    if row["share"]["value"] is None:
        return "unknown: these files hold no failures"
    share = with_interval(row["share"], "{:.1%}")
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
            with_interval(row["p50_ms"], "{:.1f}"),
            with_interval(row["p90_ms"], "{:.1f}"),
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
            with_interval(row["median_host_ms"], "{:+.1f}"),
            with_interval(row["share_above_0"], "{:.1%}"),
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
