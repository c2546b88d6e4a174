"""Comparisons with timeouts: what is known about them, over sites and site by site."""

import math

from eyelevel.analysis.answers.rare_loads import format_limit
from eyelevel.analysis.formats import (
    format_p,
    format_p_equation,
    format_percent,
    format_signed_ms,
)
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.report.html import Markup, element, join
from eyelevel.report.statistic_cells import (
    collapsed_table,
    compared_json,
    estimate_cell,
    tested_cell,
    tested_json,
)

NETWORKS_NOTE = (
    "A load that timed out took at least as long as its limit and counts as the limit in gains "
    "and differences; if only the loads of one stack timed out, the true values are at least "
    "as large. The difference is then one of restricted means, that is, of times up to the "
    "limit. If more than a fifth of a stack's loads did not finish, there is no gain, since it "
    "would reflect the limit. p tests for equal numbers of unfinished loads. It uses the signs "
    "of the repetitions' differences and assumes that repetitions are independent; of a fixed "
    "number of blocks it is exact (for one site McNemar's test), and where a study may stop early "
    "it holds whenever one looks. It is corrected together with the gains' own. A page that did "
    "not finish, or of which the network lost an object, counts as a timeout in every metric, "
    "whatever it had shown by then."
)


def timeouts_beside(gain: NetworkGain) -> Markup:
    """Return how many loads a gain counts as their limit; empty if there are none."""
    counts = gain.timeouts
    if counts is None or not counts.any:
        return Markup("")
    said = f"unfinished: {counts.count} and {counts.count_reference} of {counts.pairs}"
    bound = "" if counts.bound == "either way" else f"; {counts.bound} this"
    return element("small", said, bound)


def timeouts_details(contents: StudyResults) -> Markup:
    """Return comparisons over sites with timeouts, collapsed; empty if no load timed out."""
    rows: list[list[object]] = []
    for gain in contents.gains:
        counts = gain.timeouts
        if gain.metric != contents.primary_metric or counts is None or not counts.any:
            continue
        difference = estimate_cell(gain.difference, lambda ms: format_signed_ms(ms, math.inf))
        ps = ("none" if p is None else format_p(p) for p in (counts.p, gain.p_timeouts_holm))
        said = f"{counts.count} and {counts.count_reference} of {counts.pairs}"
        which = (gain.network, gain.stack, gain.reference)
        cells = (estimate_cell(gain.gain, format_percent), difference)
        rows.append([*which, said, *ps, format_limit(counts), counts.bound, *cells])
    if not rows:
        return Markup("")
    columns = [
        "network", "stack", "reference", "unfinished loads of both", "p", "corrected p", "limit",
        "gain with a longer limit", "gain, 95 % interval",
        "difference up to the limit, 95 % interval",
    ]  # fmt: skip
    caption = f"{title_of(contents.primary_metric)}, where loads did not finish"
    return collapsed_table("Where loads did not finish", caption, columns, rows, NETWORKS_NOTE)


def timeouts_json(gain: NetworkGain) -> JsonObject | None:
    """Return the timeouts of a comparison and their test; None if they are unknown."""
    counts = gain.timeouts
    if counts is None:
        return None
    limits = {
        f"limit_ms_{end}": limit if math.isfinite(limit) else None
        for end, limit in (("min", counts.limit_min), ("max", counts.limit_max))
    }
    told = {name: getattr(counts, name) for name in ("count", "count_reference", "pairs")}
    return {**told, **limits, "bound": counts.bound or None, "p": counts.p,
            "p_holm": gain.p_timeouts_holm}  # fmt: skip


SITES_NOTE = (
    "A load that timed out, or that lost an object, has no time and therefore no mean; all that is "
    "known is that it took longer than the limit. The restricted mean is the mean of times up to "
    "the limit, with a timeout counted as the limit, so it understates how much slower a stack "
    "with timeouts is. Its interval assumes that blocks are independent and numerous enough for a "
    "mean to be about normal. The log-rank test compares whole distributions; it assumes that "
    "runs are independent and is most sensitive if hazards are proportional. A z above zero "
    "means that the stack's loads ended sooner. Neither is corrected for the number of "
    "comparisons."
)


def describe_censored(contents: StudyResults) -> Markup:
    """Return comparisons by site with timeouts, collapsed; empty if no load timed out."""
    censored_cells = contents.censored
    if not censored_cells:
        return Markup("")
    rows: list[list[object]] = []
    for censored in censored_cells:
        cell, mean = censored.cell, censored.restricted_mean_difference
        difference = estimate_cell(mean, lambda ms: format_signed_ms(ms, math.inf))
        if mean.p is not None:
            difference = join([difference, element("small", format_p_equation(mean.p))])
        counts = f"{cell.timeouts} and {cell.timeouts_reference} of {cell.pairs}"
        rank = tested_cell(censored.log_rank, "z")
        pair = (cell.site, cell.network, cell.stack, cell.reference)
        rows.append([*pair, counts, difference, rank])
    columns = [
        "site", "network", "stack", "reference", "timeouts of both",
        "difference of restricted means, 95 % interval", "log-rank, p",
    ]  # fmt: skip
    metric = title_of(contents.primary_metric)
    caption = f"{metric} where loads timed out: {_comparisons(len(censored_cells))}"
    summary = "Loads that timed out, as censored values"
    return collapsed_table(summary, caption, columns, rows, SITES_NOTE, class_="cells tests")


def _comparisons(count: int) -> str:
    return "1 comparison" if count == 1 else f"{count} comparisons"


def censored_as_json(contents: StudyResults) -> JsonObject:
    """Return the censored comparisons as JSON, one object per comparison."""
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
