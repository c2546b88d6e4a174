"""Print `eyelevel probe report` by CDN, and format estimates and verdicts."""

from rich.text import Text

from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.cli.output import results, table
from eyelevel.probes.cdn.attribution import GROUP, UNKNOWN
from eyelevel.probes.cdn.summary import ByCdn, describe_evidence

CDNS_SHOWN = 8
"""Number of CDNs printed, those with most hosts; --json and the page have all."""
SHARES = {"tls1.3": "TLS 1.3", "quic": "QUIC"}


def print_by_cdn(found: ByCdn) -> None:
    """Print the CDNs, how many hosts connect, times, and differences.

    Prints one line if no CDN is known.
    """
    if [row["cdn"] for row in found.cdns] in ([], [UNKNOWN]):
        none = "by CDN: unknown, since no CNAME, answer or group of addresses identifies one"
        results.print(none, style="dim", soft_wrap=True)
        return
    shown = {row["cdn"] for row in found.cdns[:CDNS_SHOWN]}
    results.print("by CDN", style="bold")
    results.print(_cdn_table(found, shown))
    results.print(_times([row for row in found.times if row["cdn"] in shown]))
    if pairs := [row for row in found.pairs if row["cdn"] in shown]:
        results.print(_differences(pairs))
    left = len(found.cdns) - len(shown)
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
        "told by",
        *numbers,
        *(f"{title} connects" for title in SHARES.values()),
    )
    shown = table(*columns, right=numbers)
    shares = {(row["cdn"], row["protocol"]): row for row in found.connected}
    for row in found.cdns:
        if row["cdn"] in cdns:
            connects = (_share(shares.get((row["cdn"], protocol))) for protocol in SHARES)
            counts = (str(row[name]) for name in numbers)
            shown.add_row(_name(row["cdn"]), describe_evidence(row), *counts, *connects)
    return shown


def _share(row: JsonMapping | None) -> str:
    if row is None:
        return "not tried"
    share = row["share"]
    if share["value"] is None:
        return UNKNOWN
    return f"{row['connected']}/{row['hosts']} [{share['low']:.0%}, {share['high']:.0%}]"


def _times(rows: list[JsonObject]) -> object:
    numbers = ("samples", "hosts", "median")
    shown = table("served by", "over", "from", *numbers, right=numbers)
    for row in rows:
        shown.add_row(
            _name(row["cdn"]),
            row["protocol"],
            " ".join(filter(None, (row["vantage"], row["family"]))) or UNKNOWN,
            str(row["n"]),
            str(row["hosts"]),
            interval(row["p50_ms"], sign=False),
        )
    return shown


def _differences(pairs: list[JsonObject]) -> object:
    numbers = ("hosts", "median host, ms")
    shown = table("served by", "A - B", *numbers, "verdict", right=numbers)
    for pair in pairs:
        counts = (str(pair["hosts"]), interval(pair["median_host_ms"]))
        shown.add_row(
            _name(pair["cdn"]), f"{pair['a']} - {pair['b']}", *counts, describe_verdict(pair)
        )
    return shown


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


def describe_verdict(pair: JsonMapping) -> str:
    """Return the verdict with the protocol's name."""
    faster = {"a faster": pair["a"], "b faster": pair["b"]}.get(pair["verdict"])
    return f"{faster} faster" if faster else str(pair["verdict"])
