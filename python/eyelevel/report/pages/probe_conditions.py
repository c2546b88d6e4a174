"""The part of a report on probes that compares conditions: families, resumption, 0-RTT."""

from collections.abc import Iterable, Sequence

from eyelevel.base.json_types import JsonMapping
from eyelevel.report.html import Markup, element, table, titled_section
from eyelevel.report.pages.probe_tables import with_interval
from eyelevel.report.pages.probe_words import verdict_sentence

HOSTS_SHOWN = 30
"""The most hosts of a comparison on the page, those farthest from 0; --json has all."""
TIMES = {"connection_ms": "connection time", "first_byte_ms": "time to the first byte"}


def found(conditions: Iterable[JsonMapping]) -> list[Markup]:
    """Return a sentence for each comparison with enough pairs for an interval."""
    sentences = []
    for row in conditions:
        if row["median_host_ms"]["low"] is None:
            continue
        text = f"{_over(row)}, in {TIMES[row['what']]}: {verdict_sentence(row)}."
        claimed = row["verdict"] in ("a faster", "b faster")
        sentences.append(element("li", text, **({} if claimed else {"class_": "unclear"})))
    return sentences


def section(conditions: Sequence[JsonMapping]) -> list[Markup]:
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
            with_interval(row["median_host_ms"], "{:+.3f}"),
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
    shown = [
        element("p", explained),
        table("A - B in milliseconds, by host", columns, rows, class_="differences"),
        *(_by_host(row) for row in conditions if row["by_host"]),
    ]
    return [titled_section("conditions", "Families, resumption and 0-RTT", *shown)]


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
