"""What can be said where a timeout left the gain undetermined: mean times up to the limit."""

from typing import Any

from eyelevel.analysis.shown import title_of
from eyelevel.analysis.study import Contents
from eyelevel.report.html import Markup
from eyelevel.report.statistic_cells import collapsed_table, estimate_cell, p_value, signed_ms

NOTE = (
    "Where a load timed out, the gain is undetermined. Here every timeout counts as the limit of "
    "{limit_s:g} s: the difference is of the mean times up to the limit (restricted means), "
    "averaged over the sites. It understates how much slower a stack is that times out. The "
    "interval assumes independent blocks, many enough for such a mean to be about normal, which a "
    "few timeouts are not; p is not corrected, and nothing is called faster or slower by it. The "
    "sites are further below, with a test of the whole distributions."
)


def restricted_details(contents: Contents) -> Markup:
    """Collapsed; nothing where no load timed out."""
    if not contents.restricted_differences:
        return Markup("")
    limit_s = contents.plan["browser"]["timeout_s"]
    rows: list[list[object]] = []
    for each in contents.restricted_differences:
        found = each.difference
        said = estimate_cell(found, lambda ms: signed_ms(ms, limit_s))
        counts = f"{each.timeouts} and {each.timeouts_reference} of {each.pairs}"
        p = "none" if found.p is None else p_value(found.p)
        rows.append([each.network, each.stack, counts, said, p])
    columns = [
        "network", "stack", "timeouts, stack and reference",
        "difference of restricted means, 95 % interval", "p",
    ]  # fmt: skip
    note = NOTE.format(limit_s=limit_s)
    if contents.plan.get("stop"):
        note += " None of this allows for a study that stops when it has seen enough."
    caption = f"{title_of(contents.plan['primary_metric'])}, of times up to {limit_s:g} s"
    return collapsed_table("Where loads timed out", caption, columns, rows, note)


def restricted_as_json(contents: Contents) -> list[dict[str, Any]]:
    """The same for machines: an object a network and stack."""
    return [
        {
            "network": each.network,
            "stack": each.stack,
            "metric": each.metric,
            "pairs": each.pairs,
            "timeouts": each.timeouts,
            "timeouts_reference": each.timeouts_reference,
            "difference": each.difference.as_json(),
        }
        for each in contents.restricted_differences
    ]
