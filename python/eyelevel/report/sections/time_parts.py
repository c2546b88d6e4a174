"""Times divided into parts: sentences and tables of what the verdict's metric waited for.

Only comparisons that the primary metric calls faster or slower have sentences, and each rests on an
interval that excludes zero: of many that are not corrected for their number, one differs by
chance.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from eyelevel.analysis.claims import CLAIMS, verdict_of
from eyelevel.analysis.formats import NO_BREAK, format_number
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.time_parts import (
    FIRST_PAINT,
    LARGEST_PAINT,
    PAINT,
    PARTS,
    SPEED_INDEX,
    Divided,
    NetworkParts,
    TimePart,
    VisiblePart,
    handshakes_of,
)
from eyelevel.base.json_types import JsonObject
from eyelevel.report.html import Markup, element, join, render
from eyelevel.report.statistic_cells import estimate_cell

COMPARISONS_MAX = 8
SHOWN_MAX = 12  # tables: `--json` has them all
NO_RESOURCE = "no resource to wait for"

_PATH = (
    "An instant counts once: as a wait for a connection, for a first byte, for bytes, or else as "
    "the browser's own time. Records do not name what asked for an object, so the critical path is "
    "the latest that timing allows."
)
NOTES = {
    LARGEST_PAINT: (
        "The parts are web.dev's: time to first byte; resource load delay, until the request for "
        "the largest picture is sent; resource load duration, until its last byte; element render "
        "delay, until it is presented. Text waits for no resource."
    ),
    SPEED_INDEX: (
        "Speed Index is the mean time at which the parts of the picture appear. Each waits for its "
        "critical path: the last picture or font to arrive before it, or what rendering waited "
        f"for, and back to the document. {_PATH}"
    ),
    FIRST_PAINT: (
        "The first paint waits for its critical path: what rendering waits for, and back to the "
        f"document. {_PATH}"
    ),
}
TITLES = {
    LARGEST_PAINT: "Largest Contentful Paint in its four parts",
    SPEED_INDEX: "Speed Index in what it waited for",
    FIRST_PAINT: "The first paint in what it waited for",
}
INTERVALS = (
    "Means over sites of the differences within the same blocks, so the parts add up; intervals "
    "{by}, not corrected. They say where in a load a difference arises, not what causes it."
)

NO_CAUSE = " To measure causes, add {setting} to “The plan, to run it again” below, and run it."
_WHOLE = {FIRST_PAINT.whole: "first paint"}
_FIRST = "first_contentful_paint_ms"
CAUSES = 'causes = ["handshake", "window"]'


@dataclass(frozen=True)
class PartsRow:
    """One part of a time: its name and cells."""

    name: str
    cells: tuple[object, ...]


@dataclass(frozen=True)
class PartsTable:
    """A time of one comparison on one network, in its parts."""

    title: str
    counts: str
    stack: str
    reference: str
    rows: tuple[PartsRow, ...]


@dataclass(frozen=True)
class PartsSection:
    """A table per comparison and network, which unfolds."""

    summary: str
    tables: tuple[PartsTable, ...]
    note: object


def time_parts(results: StudyResults) -> Markup:
    """Return the tables of the primary metric's parts; empty without such loads.

    If its waits are unknown, they are those of Largest Contentful Paint.
    """
    divided, parts = {
        SPEED_INDEX.whole: (SPEED_INDEX, results.speeds),
        _FIRST: (FIRST_PAINT, results.first_paints),
    }.get(results.primary_metric, (LARGEST_PAINT, results.paints))
    if not parts:
        return Markup("")
    tables = tuple(_table(each, divided) for each in parts[:SHOWN_MAX])
    hidden = len(parts) - SHOWN_MAX
    section = PartsSection(TITLES[divided], tables, _note(results, divided, hidden))
    return render("time_parts", section)


def _note(results: StudyResults, divided: Divided, hidden: int) -> Markup:
    by = "by confidence sequences" if results.may_stop else "by Student's t over repetitions"
    more = f" {hidden} more comparisons are in --json." if hidden > 0 else ""
    text = f"{NOTES[divided]} {INTERVALS.format(by=by)}"
    return join([text, _describe_counterfactuals(results), more])


def metric_paragraphs(results: StudyResults) -> list[list[str]]:
    """Return sentences on why the primary metric differs, a list per comparison.

    They are in the plan's order. Comparisons that it calls neither faster nor slower have none,
    nor have metrics without parts.
    """
    of_metric: dict[str, Callable[[StudyResults, NetworkGain], Iterator[str]]] = {
        PAINT: _explain_largest_paint,
        SPEED_INDEX.whole: _explain_speed_index,
        _FIRST: _explain_first_paint,
    }
    say = of_metric.get(results.primary_metric)
    if results.unfinished or say is None:
        return []
    comparisons = results.comparisons  # the first is the headline's
    claimed = [gain for gain in results.gains if _has_sign(results, gain)]
    claimed.sort(key=lambda gain: comparisons.index(gain.comparison))
    paragraphs: list[list[str]] = []
    for gain in claimed:
        sentences = list(say(results, gain))
        if sentences and len(paragraphs) < COMPARISONS_MAX:
            others = [each[0].upper() + each[1:] for each in sentences[1:]]
            paragraphs.append([f"On {gain.network}, {sentences[0]}", *others])
    return paragraphs


def _has_sign(results: StudyResults, gain: NetworkGain) -> bool:
    """Return whether a stack is called faster or slower, by any amount."""
    return (verdict_of(results, gain) or "").startswith(CLAIMS)


def _explain_largest_paint(results: StudyResults, gain: NetworkGain) -> Iterator[str]:
    """Yield a sentence on the largest part of Largest Contentful Paint."""
    paint = _find_parts(results.paints, gain)
    certain = _certain_parts(paint, gain) if paint else []
    if paint is None or not certain:
        return
    name, part = certain[0]
    rtt_ms = results.network(gain.network).rtt_ms_min
    yield (
        f"Largest Contentful Paint came {_describe_move(paint, gain)}; the largest part of this is "
        f"{PARTS[name]}, {_describe_size(part, rtt_ms)}."
    )


def _explain_speed_index(results: StudyResults, gain: NetworkGain) -> Iterator[str]:
    """Yield sentences on the waits of Speed Index, its handshakes and its largest visible part."""
    speed = _find_parts(results.speeds, gain)
    are_stacks_named = False
    if speed is not None and (waits := _describe_waits(speed, gain)):
        yield f"the average visible part came {_describe_move(speed, gain)}: {waits}."
        are_stacks_named = True
    yield from _explain_handshakes(results, gain)
    for part in results.visible_parts(gain.network, gain.comparison):
        if _agrees(part.times.whole.difference, gain):
            yield _describe_part(part, gain, are_stacks_named=are_stacks_named)
            are_stacks_named = True


def _explain_first_paint(results: StudyResults, gain: NetworkGain) -> Iterator[str]:
    paint = _find_parts(results.first_paints, gain)
    if paint is not None and (waits := _describe_waits(paint, gain)):
        yield f"the first paint came {_describe_move(paint, gain)}: {waits}."
    yield from _explain_handshakes(results, gain)


def _explain_handshakes(results: StudyResults, gain: NetworkGain) -> Iterator[str]:
    """Yield a sentence with the number and the price of the handshakes before the first paint."""
    paint = _find_parts(results.first_paints, gain)
    if paint is None:
        return
    connections = paint.parts["first_paint_connections_ms"].difference
    own, other = (
        handshakes_of(results.blocks.kept, gain.network, stack)
        for stack in (gain.stack, gain.reference)
    )
    if not _agrees(connections, gain) or own is None or other is None:
        return
    way = "less" if (connections.value or 0.0) < 0 else "more"
    whole = paint.whole.difference
    price = f"took {_describe_size(connections)} {way}"
    if own == other:
        waits = f"both waited for {_describe_handshakes(own)}: {gain.stack}'s {price}"
    else:
        counts = f"{_describe_handshakes(own)} instead of {_number_in_words(other)}"
        waits = f"{gain.stack} waited for {counts}, which {price}"
    yield f"before the first paint, {waits}, and it painted {_ms(whole.value)} {_way(whole)}."


def _describe_part(part: VisiblePart, gain: NetworkGain, *, are_stacks_named: bool) -> str:
    through = f" through {_name_of(part.url)}" if part.url else ""
    if part.url == "":
        through = " with the first paint"
    difference = part.times.whole.difference
    move = f"{_describe_size(difference)} {_way(difference)}"
    waits = _describe_waits(part.times, gain)
    return (
        f"of {part.site}'s picture, {100 * part.share:.0f}{NO_BREAK}% came at once{through}, "
        f"{move if are_stacks_named else _describe_move(part.times, gain)}"
        f"{f': {waits}' if waits else ''}."
    )


def _find_parts(parts: Sequence[NetworkParts], gain: NetworkGain) -> NetworkParts | None:
    """Return the parts of a gain's comparison if the time moved significantly with the gain."""
    of = (gain.network, gain.comparison)
    found = next((each for each in parts if (each.network, each.comparison) == of), None)
    return found if found and _agrees(found.whole.difference, gain) else None


def _agrees(difference: Estimate, gain: NetworkGain) -> bool:
    """Return whether a difference is significant and has the gain's sign."""
    return difference.excludes_zero and (difference.value or 0.0) * (gain.gain.value or 0.0) > 0


def _certain_parts(parts: NetworkParts, gain: NetworkGain) -> list[tuple[str, Estimate]]:
    """Return the parts that differ significantly with the gain's sign, the largest first."""
    found = [
        (name, part.difference)
        for name, part in parts.parts.items()
        if _agrees(part.difference, gain)
    ]
    return sorted(found, key=lambda one: -abs(one[1].value or 0.0))


def _describe_waits(parts: NetworkParts, gain: NetworkGain) -> str:
    """Return words such as `136 ms (125 to 147 ms) less waiting for bytes`; empty if none is sure.

    The time that other parts took back is stated where the named ones exceed the whole.
    """
    clauses, named_ms, certain = [], 0.0, _certain_parts(parts, gain)
    whole_ms = parts.whole.difference.value or 0.0
    if len(certain) == 1 and abs((certain[0][1].value or 0.0) - whole_ms) < 1:
        way = "less" if whole_ms < 0 else "more"
        return f"all of it {way} {_WAITED[certain[0][0].rsplit('_', 1)[0]]}"
    for name, part in certain:
        way = "less" if (part.value or 0.0) < 0 else "more"
        clauses.append(f"{_describe_size(part)} {way} {_WAITED[name.rsplit('_', 1)[0]]}")
        named_ms += part.value or 0.0
    waits = (
        " and ".join(clauses)
        if len(clauses) < 3
        else f"{', '.join(clauses[:-1])} and {clauses[-1]}"
    )
    back_ms = abs(named_ms) - abs(whole_ms)
    return (
        f"{waits}; the other parts took {_ms(back_ms)} back" if clauses and back_ms >= 1 else waits
    )


_WAITED = {
    f"{of}_{kind}": words
    for of in ("speed_index", "first_paint", "largest_part")
    for kind, words in (
        ("connections", "waiting for connections"),
        ("first_byte", "waiting for first bytes"),
        ("bytes", "waiting for bytes"),
        ("rest", "time of the browser itself"),
    )
}


def _describe_move(parts: NetworkParts, gain: NetworkGain) -> str:
    """Return words such as `160 ms (150 to 170 ms) earlier with quic than with tcp+`."""
    difference = parts.whole.difference
    way = f"{_describe_size(difference)} {_way(difference)}"
    return f"{way} with {gain.stack} than with {gain.reference}"


def _way(difference: Estimate) -> str:
    return "earlier" if (difference.value or 0.0) < 0 else "later"


def _ms(value: float | None) -> str:
    return f"{format_number(abs(value or 0.0), '.0f')}{NO_BREAK}ms"


def _describe_size(part: Estimate, rtt_ms: float = 0.0) -> str:
    """Return words such as `73 ms or 1.0 round trips (71 to 74 ms)`; the interval excludes zero."""
    rtts = f" or {abs(part.value or 0.0) / rtt_ms:.1f} round trips" if rtt_ms else ""
    low, high = sorted(abs(bound or 0.0) for bound in (part.low, part.high))
    return f"{_ms(part.value)}{rtts} ({low:.0f} to {_ms(high)})"


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


def _describe_handshakes(counts: tuple[int, int]) -> str:
    """Return `two handshakes`, or `one to three handshakes` if sites differ."""
    return f"{_number_in_words(counts)} handshake{'' if counts == (1, 1) else 's'}"


def _number_in_words(counts: tuple[int, int]) -> str:
    few, many = (_NUMBERS[n] if n < len(_NUMBERS) else str(n) for n in counts)
    return few if few == many else f"{few} to {many}"


def _name_of(url: str) -> str:
    """Return the last part of an object's path, else its host."""
    split = urlsplit(url)
    return split.path.rstrip("/").rpartition("/")[2] or split.netloc


def _describe_counterfactuals(results: StudyResults) -> Markup:
    """Return the note on parts of a study without counterfactual loads."""
    if results.splits:
        return Markup("")
    before, after = NO_CAUSE.split("{setting}")
    return join([before, element("code", CAUSES), after])


def time_parts_json(results: StudyResults) -> JsonObject:
    """Return the parts of each comparison as JSON (docs/reference/report.md)."""
    return {
        "largest_contentful_paint": [_json(each) for each in results.paints],
        "speed_index": [_json(each) for each in results.speeds],
        "first_paint": [_json(each) for each in results.first_paints],
    }


def _json(parts: NetworkParts) -> JsonObject:
    return {
        "network": parts.network,
        "stack": parts.stack,
        "reference": parts.reference,
        "sites": parts.sites,
        "sites_without": list(parts.sites_without),
        "blocks": parts.blocks,
        "blocks_without": parts.blocks_without,
        "blocks_of_two_elements": parts.blocks_of_two,
        "whole": _part_json(parts.whole),
        "parts": {name: _part_json(part) for name, part in parts.parts.items()},
    }


def _part_json(part: TimePart) -> JsonObject:
    return {
        "mean_ms": part.mean,
        "mean_reference_ms": part.mean_reference,
        "difference_ms": part.difference.as_json(),
    }


def _table(parts: NetworkParts, divided: Divided) -> PartsTable:
    needs_none = NO_RESOURCE if divided is LARGEST_PAINT else ""
    rows = [_row(divided.parts[name], part, needs_none) for name, part in parts.parts.items()]
    return PartsTable(
        f"{parts.stack} on {parts.network}",
        _counts(parts),
        parts.stack,
        parts.reference,
        (*rows, _row(_WHOLE.get(divided.whole, title_of(divided.whole)), parts.whole)),
    )


def _row(name: str, part: TimePart, needs_none: str = "") -> PartsRow:
    means = [f"{mean:.0f}{NO_BREAK}ms" for mean in (part.mean_reference, part.mean)]
    if needs_none and part.mean == part.mean_reference == 0:
        return PartsRow(name, (*means, needs_none))
    return PartsRow(name, (*means, estimate_cell(part.difference, _format_ms)))


def _format_ms(value: float) -> str:
    return f"{format_number(value, '+.0f')}{NO_BREAK}ms"


def _counts(of: NetworkParts) -> str:
    parts = [f"{_number(of.blocks, 'block')} of {_number(of.sites, 'site')}"]
    if of.blocks_without:
        parts.append(f"{of.blocks_without} left out because one of their loads has no such parts")
    if of.sites_without:
        parts.append(f"none of {', '.join(of.sites_without)}")
    if of.blocks_of_two:
        parts.append(f"in {of.blocks_of_two} another element was the largest")
    return "; ".join(parts)


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
