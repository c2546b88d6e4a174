"""The section on a server's distances from level stacks: the protocol's share, and the server's."""

from collections.abc import Iterator

from eyelevel.analysis.formats import NO_BREAK, format_number
from eyelevel.analysis.gains.level_distances import Distance
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.report.html import Markup, element, join, make_titled_section, table

SIGNS = {"level": "", "http2": "−", "http3": "+", "server": "="}
"""The parts in the order of their sum, each with its sign."""
LABELS = {"level": "a", "http2": "b", "http3": "c", "server": "a − b + c"}
MEANINGS = {
    "level": "the protocols alone: level HTTP/3 against level HTTP/2",
    "http2": "the server's HTTP/2, from level",
    "http3": "the server's HTTP/3, from level",
    "server": "the server's HTTP/3 against its HTTP/2",
}
_NOTE = (
    "Log ratios in per cent, 100 × ln(time / reference), add up, and so do the differences in ms; "
    "negative is faster. All are of the same blocks, those with all four loads. Intervals are of "
    "95 %, {by}, not corrected for their number."
)


def level_distances_section(results: StudyResults) -> Markup:
    """Return a table for each network; empty if the plan compares no server with level stacks."""
    if results.unfinished or not results.level_distances:
        return Markup("")
    metric = title_of(results.primary_metric)
    columns = ["part", "what", "log ratio, %", "95 % interval", "ms", "95 % interval"]
    tables = [
        table(
            join([element("strong", each.network), f", {metric}, {each.blocks} blocks"]),
            columns,
            [_row(name, each.distances[name]) for name in SIGNS],
            class_="causes",
        )
        for each in results.level_distances
    ]
    by = "by confidence sequences" if results.may_stop else "by Student's t over repetitions"
    lines = [element("p", line) for line in describe_level_distances(results)]
    note = element("p", _NOTE.format(by=by), class_="note")
    return make_titled_section(
        "level-distances", "Is it HTTP/3, or the server's HTTP/3?", *lines, *tables, note
    )


def level_distances_json(results: StudyResults) -> JsonObject:
    """Return the distances by network, and what the server's responses lack."""
    if not results.level_distances:
        return {}
    return {
        "level_distances": [
            {
                "network": each.network,
                "blocks": each.blocks,
                "blocks_without": each.blocks_without,
                "distances": {
                    name: {
                        "stack": distance.stack,
                        "reference": distance.reference,
                        "log_ratio": distance.log_ratio.as_json(),
                        "difference_ms": distance.difference_ms.as_json(),
                    }
                    for name, distance in each.distances.items()
                },
            }
            for each in results.level_distances
        ],
        "without_alt_svc": list(results.without_alt_svc),
    }


def describe_level_distances(results: StudyResults) -> list[str]:
    """Return a sentence for each network, and one for each stack without Alt-Svc."""
    if results.unfinished:
        return []
    return [*_sentences(results)]


def _sentences(results: StudyResults) -> Iterator[str]:
    for each in results.level_distances:
        parts = [
            f"{_NAMES[name]} ({label}) {_write(each.distances[name])}"
            for name, label in LABELS.items()
        ]
        yield f"{each.network}: {'; '.join(parts)}."
        if each.blocks_without:
            yield (
                f"{each.network}: {each.blocks_without} blocks without one of the four loads are "
                "left out of this sum."
            )
    for stack in results.without_alt_svc:
        yield (
            f"{stack}: its HTTP/3 responses have no Alt-Svc, so that Chromium holds images back; "
            'add `Alt-Svc: h3=":443"` to the server\'s answers.'
        )


_NAMES = {
    "level": "the protocols alone",
    "http2": "the server's HTTP/2 from level",
    "http3": "its HTTP/3 from level",
    "server": "its HTTP/3 against its HTTP/2",
}


def _row(name: str, distance: Distance) -> list[object]:
    ratio, difference = distance.log_ratio, distance.difference_ms
    return [
        f"{SIGNS[name]} {LABELS[name]}".strip() if name != "server" else f"= {LABELS[name]}",
        f"{MEANINGS[name]} ({distance.stack} against {distance.reference})",
        _value(ratio, 100),
        _bounds(ratio, 100),
        _value(difference, 1),
        _bounds(difference, 1),
    ]


def _write(distance: Distance) -> str:
    ratio, difference = distance.log_ratio, distance.difference_ms
    percent, ms = f"{NO_BREAK}%", f"{NO_BREAK}ms"
    return (
        f"{_value(ratio, 100)}{percent} [{_bounds(ratio, 100)}], "
        f"{_value(difference, 1)}{ms} [{_bounds(difference, 1)}]"
    )


def _value(estimate: Estimate, factor: float) -> str:
    return "unknown" if estimate.value is None else format_number(factor * estimate.value, "+.1f")


def _bounds(estimate: Estimate, factor: float) -> str:
    if estimate.low is None or estimate.high is None:
        return "no interval"
    low, high = (format_number(factor * bound, "+.1f") for bound in (estimate.low, estimate.high))
    return f"{low},{NO_BREAK}{high}"
