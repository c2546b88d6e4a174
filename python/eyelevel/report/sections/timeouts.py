"""Comparisons in which loads timed out: what can be said of them all the same, over sites and site
by site."""

from eyelevel.analysis.formats import format_p, format_p_equation, format_signed_ms
from eyelevel.analysis.shown import title_of
from eyelevel.analysis.study import Contents
from eyelevel.json_types import JsonObject
from eyelevel.report.html import Markup, element, join
from eyelevel.report.statistic_cells import (
    collapsed_table,
    compared_json,
    estimate_cell,
    tested_cell,
    tested_json,
)

NETWORKS_NOTE = (
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
    limit_s = contents.limit_s
    rows: list[list[object]] = []
    for over_sites in contents.restricted_differences:
        difference = over_sites.difference
        difference_cell = estimate_cell(difference, lambda ms: format_signed_ms(ms, limit_s))
        counts = f"{over_sites.timeouts} and {over_sites.timeouts_reference} of {over_sites.pairs}"
        p = "none" if difference.p is None else format_p(difference.p)
        rows.append([over_sites.network, over_sites.stack, counts, difference_cell, p])
    columns = [
        "network", "stack", "timeouts, stack and reference",
        "difference of restricted means, 95 % interval", "p",
    ]  # fmt: skip
    note = NETWORKS_NOTE.format(limit_s=limit_s)
    if contents.may_stop:
        note += " None of this allows for a study that stops when it has seen enough."
    caption = f"{title_of(contents.primary_metric)}, of times up to {limit_s:g} s"
    return collapsed_table("Where loads timed out", caption, columns, rows, note)


def restricted_json(contents: Contents) -> JsonObject:
    """The same for machines: an object a network and stack."""
    return {
        "differences_up_to_limit": [
            {
                **compared_json(over_sites, "pairs", "timeouts", "timeouts_reference"),
                "difference": over_sites.difference.as_json(),
            }
            for over_sites in contents.restricted_differences
        ]
    }


SITES_NOTE = (
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
    censored_cells = contents.censored
    if not censored_cells:
        return Markup("")
    limit_s = contents.limit_s
    rows: list[list[object]] = []
    for censored in censored_cells:
        cell, mean = censored.cell, censored.restricted_mean_difference
        difference = estimate_cell(mean, lambda ms: format_signed_ms(ms, limit_s))
        if mean.p is not None:
            difference = join([difference, element("small", format_p_equation(mean.p))])
        counts = f"{cell.timeouts} and {cell.timeouts_reference} of {cell.pairs}"
        rank = tested_cell(censored.log_rank, "z")
        rows.append([cell.site, cell.network, cell.stack, counts, difference, rank])
    columns = [
        "site", "network", "stack", "timeouts, stack and reference",
        "difference of restricted means, 95 % interval", "log-rank, p",
    ]  # fmt: skip
    metric = title_of(contents.primary_metric)
    caption = (
        f"{metric} where loads timed out after {limit_s:g} s: {_comparisons(len(censored_cells))}"
    )
    summary, note = "Loads that timed out, as censored values", SITES_NOTE.format(limit_s=limit_s)
    return collapsed_table(summary, caption, columns, rows, note, class_="cells tests")


def _comparisons(count: int) -> str:
    return "1 comparison" if count == 1 else f"{count} comparisons"


def censored_json(contents: Contents) -> JsonObject:
    """The same for machines: an object a comparison."""
    return {
        "timeouts_censored": [
            {
                **compared_json(censored.cell, "site", "pairs", "timeouts", "timeouts_reference"),
                "restricted_mean_difference": censored.restricted_mean_difference.as_json(),
                "log_rank": tested_json(censored.log_rank),
            }
            for censored in contents.censored
        ]
    }
