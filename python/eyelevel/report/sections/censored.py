"""Comparisons in which loads timed out: what can be said of them all the same."""

from typing import Any

from eyelevel.analysis.shown import title_of
from eyelevel.analysis.study import Contents
from eyelevel.report.html import Markup, element, join
from eyelevel.report.statistic_cells import (
    collapsed_table,
    estimate_cell,
    said_p,
    signed_ms,
    tested_cell,
    tested_json,
)

NOTE = (
    "A load that timed out has no time, so it has no mean; that it took longer than the limit is "
    "known. The restricted mean is the mean of times up to the limit ({limit_s:g} s), which a "
    "timeout counts as: it understates how much slower a stack is that times out. Its interval "
    "assumes independent blocks, enough of them for a mean to be about normal. The log-rank test "
    "compares whole distributions; it assumes independent runs and finds most where hazards are "
    "proportional; above zero its z says that the stack's loads ended sooner. Neither is corrected "
    "for the number of comparisons."
)


def censored_details(contents: Contents) -> Markup:
    """Collapsed; nothing where no load timed out."""
    found = contents.censored
    if not found:
        return Markup("")
    limit_s = contents.plan["browser"]["timeout_s"]
    rows: list[list[object]] = []
    for each in found:
        cell, mean = each.cell, each.restricted_mean_difference
        difference = estimate_cell(mean, lambda ms: signed_ms(ms, limit_s))
        if mean.p is not None:
            difference = join([difference, element("small", said_p(mean.p))])
        counts = f"{cell.timeouts} and {cell.timeouts_reference} of {cell.pairs}"
        rank = tested_cell(each.log_rank, "z")
        rows.append([cell.site, cell.network, cell.stack, counts, difference, rank])
    columns = [
        "site", "network", "stack", "timeouts, stack and reference",
        "difference of restricted means, 95 % interval", "log-rank, p",
    ]  # fmt: skip
    metric = title_of(contents.plan["primary_metric"])
    caption = f"{metric} where loads timed out after {limit_s:g} s: {_comparisons(len(found))}"
    summary, note = "Loads that timed out, as censored values", NOTE.format(limit_s=limit_s)
    return collapsed_table(summary, caption, columns, rows, note, class_="cells tests")


def _comparisons(count: int) -> str:
    return "1 comparison" if count == 1 else f"{count} comparisons"


def censored_as_json(contents: Contents) -> list[dict[str, Any]]:
    """The same for machines: an object a comparison."""
    return [
        {
            "site": each.cell.site,
            "network": each.cell.network,
            "stack": each.cell.stack,
            "metric": each.cell.metric,
            "pairs": each.cell.pairs,
            "timeouts": each.cell.timeouts,
            "timeouts_reference": each.cell.timeouts_reference,
            "restricted_mean_difference": each.restricted_mean_difference.as_json(),
            "log_rank": tested_json(each.log_rank),
        }
        for each in contents.censored
    ]
