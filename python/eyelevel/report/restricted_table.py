"""The gains that a timeout left undetermined, of the mean times up to the limit."""

from typing import Any

from eyelevel.report.contents import Contents
from eyelevel.report.html import Markup, element, table
from eyelevel.report.metrics_shown import title_of
from eyelevel.report.tested import interval_cell, p_value
from eyelevel.report.words import percent

NOTE = (
    "Where a load timed out, the gain is undetermined. Here every timeout counts as the limit of "
    "{limit_s:g} s: the gain is of the mean times up to the limit (restricted means), averaged "
    "over the sites. It understates how much slower a stack is that times out. The interval "
    "assumes independent blocks, many enough for such a mean to be about normal; p is not "
    "corrected, and nothing is called faster or slower by it. The sites are further below, with a "
    "test of the whole distributions."
)


def restricted_details(contents: Contents) -> Markup:
    """Collapsed; nothing where no load timed out."""
    rows: list[list[object]] = []
    counts = _timeouts(contents)
    for each in contents.restricted_gains:
        gain = each.gain
        own, reference, pairs = counts[each.network, each.arm]
        rows.append(
            [
                each.network,
                each.arm,
                f"{own} and {reference} of {pairs}",
                interval_cell(gain.value, gain.low, gain.high, gain.reason, percent),
                "none" if gain.p is None else p_value(gain.p),
            ]
        )
    if not rows:
        return Markup("")
    limit_s = contents.plan["browser"]["timeout_s"]
    columns = [
        "network", "stack", "timeouts, stack and reference",
        "gain up to the limit, 95 % interval", "p",
    ]  # fmt: skip
    caption = f"{title_of(contents.plan['primary_metric'])}, of times up to {limit_s:g} s"
    note = NOTE.format(limit_s=limit_s)
    if contents.plan.get("stop"):
        note += " None of this allows for a study that stops when it has seen enough."
    return element(
        "details",
        element("summary", "Where loads timed out"),
        table(caption, columns, rows, class_="gain-details"),
        element("p", note, class_="note"),
    )


def restricted_as_json(contents: Contents) -> list[dict[str, Any]]:
    """The same for machines: an object a network and stack."""
    counts = _timeouts(contents)
    return [
        {
            "network": each.network,
            "stack": each.arm,
            "metric": each.metric,
            "timeouts": counts[each.network, each.arm][0],
            "timeouts_reference": counts[each.network, each.arm][1],
            "gain": each.gain.value,
            "gain_low": each.gain.low,
            "gain_high": each.gain.high,
            "p": each.gain.p,
            "undetermined_because": each.gain.reason or None,
        }
        for each in contents.restricted_gains
    ]


def _timeouts(contents: Contents) -> dict[tuple[str, str], tuple[int, int, int]]:
    """By network and stack: timeouts, the reference's, and pairs, of the primary metric."""
    found: dict[tuple[str, str], tuple[int, int, int]] = {}
    for cell in contents.cells:
        if cell.metric == contents.plan["primary_metric"]:
            own, reference, pairs = found.get((cell.network, cell.arm), (0, 0, 0))
            found[cell.network, cell.arm] = (
                own + cell.timeouts,
                reference + cell.timeouts_reference,
                pairs + cell.pairs,
            )
    return found
