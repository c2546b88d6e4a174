"""Largest Contentful Paint in its four parts, by comparison and network."""

from eyelevel.analysis.claims import is_claimed
from eyelevel.analysis.formats import NO_BREAK, format_number
from eyelevel.analysis.gains.causes import rtts_ms_of
from eyelevel.analysis.paint_parts import PARTS, NetworkPaint, PaintPart
from eyelevel.analysis.shown import title_of
from eyelevel.analysis.study import Contents
from eyelevel.json_types import JsonObject
from eyelevel.plan.comparisons import Comparison
from eyelevel.report.html import Markup, element, join, table
from eyelevel.report.statistic_cells import estimate_cell
from eyelevel.stats.estimate import Estimate

SENTENCES_MAX = 4
SHOWN_MAX = 12  # tables: `--json` has them all
NO_RESOURCE = "no resource to wait for"

NOTE = (
    "The parts are web.dev's: time to first byte; resource load delay, until the request for the "
    "largest picture is sent; resource load duration, until its last byte; element render delay, "
    "until it is presented. Text waits for no resource. Means over sites of the differences within "
    "the same blocks, so the parts add up; intervals by Student's t over repetitions, not "
    "corrected. They say where in a load a difference arises, not what causes it."
)

NO_CAUSE = " To measure causes, add {setting} to “The plan, to run it again” below, and run it."
CAUSES = 'causes = ["handshake", "window"]'


def paint_parts(contents: Contents) -> Markup:
    """A table a comparison and network, which opens when asked for; empty without such loads."""
    paints = contents.paints
    if not paints:
        return Markup("")
    hidden = len(paints) - SHOWN_MAX
    more = f"{hidden} more comparisons are in --json." if hidden > 0 else ""
    return element(
        "details",
        element("summary", "Largest Contentful Paint in its four parts"),
        element("div", *(_table(paint) for paint in paints[:SHOWN_MAX]), class_="pair"),
        element("p", NOTE, _how_to_learn_why(contents), " ", more, class_="note"),
    )


def paint_sentences(contents: Contents) -> list[str]:
    """Where in the load most of a difference arises that is told from none; SENTENCES_MAX.

    Of comparisons alone that the primary metric calls faster or slower: these intervals are not
    corrected for their number, and among many one differs by chance.
    """
    claimed = {
        (gain.network, gain.comparison) for gain in contents.gains if is_claimed(contents, gain)
    }
    rtts_ms = rtts_ms_of(contents.plan)
    found = []
    for paint in contents.paints:
        whole = paint.whole.difference
        value = whole.value or 0.0
        certain = {
            name: part.difference
            for name, part in paint.parts.items()
            if part.difference.excludes_zero and (part.difference.value or 0.0) * value > 0
        }
        asked = paint.network, Comparison(paint.stack, paint.reference)
        if asked not in claimed or not whole.excludes_zero or not certain:
            continue
        name, part = max(certain.items(), key=lambda one: abs(one[1].value or 0.0))
        when = "earlier" if value < 0 else "later"
        ms = f"{format_number(abs(value), '.0f')}{NO_BREAK}ms"
        found.append(
            f"On {paint.network}, Largest Contentful Paint came {ms} {when} with {paint.stack} "
            f"than with {paint.reference}; the largest part of this is {PARTS[name].lower()}, "
            f"{_part_said(part, rtts_ms[paint.network])}."
        )
    return found[:SENTENCES_MAX]


def _how_to_learn_why(contents: Contents) -> Markup:
    """What must be added to the parts where no counterfactual was loaded."""
    if contents.splits:
        return Markup("")
    before, after = NO_CAUSE.split("{setting}")
    return join([before, element("code", CAUSES), after])


def _part_said(part: Estimate, rtt_ms: float) -> str:
    """`73 ms or 1.0 round trips (71 ms to 74 ms)`; it excludes zero."""
    value, *bounds = (abs(bound or 0.0) for bound in (part.value, part.low, part.high))
    rtts = f" or {value / rtt_ms:.1f} round trips" if rtt_ms else ""
    low, high = (f"{bound:.0f}{NO_BREAK}ms" for bound in sorted(bounds))
    return f"{value:.0f}{NO_BREAK}ms{rtts} ({low} to {high})"


def paint_parts_json(contents: Contents) -> list[JsonObject]:
    """The same for machines."""
    return [
        {
            "network": paint.network,
            "stack": paint.stack,
            "reference": paint.reference,
            "sites": paint.sites,
            "sites_without": list(paint.sites_without),
            "blocks": paint.blocks,
            "blocks_without": paint.blocks_without,
            "blocks_of_two_elements": paint.blocks_of_two,
            "whole": _part_json(paint.whole),
            "parts": {name: _part_json(part) for name, part in paint.parts.items()},
        }
        for paint in contents.paints
    ]


def _part_json(part: PaintPart) -> JsonObject:
    return {
        "mean_ms": part.mean,
        "mean_reference_ms": part.mean_reference,
        "difference_ms": part.difference.as_json(),
    }


def _table(paint: NetworkPaint) -> Markup:
    whole = title_of("largest_contentful_paint_ms")
    caption = join([
        element("strong", f"{paint.stack} on {paint.network}"), " ",
        element("span", f"against {paint.reference}, {_counts(paint)}"),
    ])  # fmt: skip
    columns = ["part", paint.reference, paint.stack, "difference"]
    rows = [_row(PARTS[name], part) for name, part in paint.parts.items()]
    return table(caption, columns, [*rows, _row(whole, paint.whole)], class_="causes")


def _row(name: str, part: PaintPart) -> list[object]:
    means = [f"{mean:.0f}{NO_BREAK}ms" for mean in (part.mean_reference, part.mean)]
    if part.mean == part.mean_reference == 0:
        return [name, *means, NO_RESOURCE]
    return [name, *means, estimate_cell(part.difference, _format_ms)]


def _format_ms(value: float) -> str:
    return f"{format_number(value, '+.0f')}{NO_BREAK}ms"


def _counts(paint: NetworkPaint) -> str:
    parts = [f"{_number(paint.blocks, 'block')} of {_number(paint.sites, 'site')}"]
    if paint.blocks_without:
        parts.append(
            f"{paint.blocks_without} left out because one of their loads has no such parts"
        )
    if paint.sites_without:
        parts.append(f"none of {', '.join(paint.sites_without)}")
    if paint.blocks_of_two:
        parts.append(f"in {paint.blocks_of_two} another element was the largest")
    return "; ".join(parts)


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
