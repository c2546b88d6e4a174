"""The p values behind the gains: as they are, corrected both ways, and of equivalence."""

from typing import Any

from eyelevel.analysis.gains.p_values import GainTests
from eyelevel.analysis.phrases import percent
from eyelevel.analysis.shown import title_of
from eyelevel.analysis.study import Contents
from eyelevel.report.html import Markup, element
from eyelevel.report.sections.other_sites import other_sites_details
from eyelevel.report.sections.restricted import restricted_details
from eyelevel.report.statistic_cells import (
    collapsed_table,
    estimate_cell,
    p_value,
    undetermined_cell,
)


def gain_details(contents: Contents) -> Markup:
    """Nothing where there is nothing to say."""
    parts = (restricted_details, p_values_details, other_sites_details)
    found = [said for said in (part(contents) for part in parts) if said]
    if not found:
        return Markup("")
    return element("section", *found, aria_label="more about the gains")


ROWS_MAX = 400  # a larger study shows its primary metric's, and of those the first ones

NOTE = (
    "p is of no difference, from the t interval: it assumes blocks that are independent, with "
    "residuals about normal. Holm's correction, of the primary metric, by which a stack is called "
    "faster or slower, bounds the chance of any false claim in the family. Benjamini and "
    "Hochberg's bounds the share of false ones among the claims, for comparisons that are "
    "independent or positively dependent, and finds more. A family is one metric's comparisons "
    "over all networks and stacks; {members} of {primary} have a p value. p of equivalence "
    "is of two one-sided t tests (TOST): at most 0.05 where the 90 % interval lies within "
    "±{effect}, the smallest effect of interest; it assumes what p does and is not corrected. The "
    "finding “no difference that matters” asks for the whole 95 % interval."
)


def p_values_details(contents: Contents) -> Markup:
    """Collapsed; nothing where no gain has a p value."""
    if all(each.gain.gain.p is None for each in contents.gain_tests):
        return Markup("")
    primary = contents.plan["primary_metric"]
    # A metric that no load has, as those of frames without any, has nothing to say here.
    there = {primary, *(e.gain.metric for e in contents.gain_tests if e.gain.gain.p is not None)}
    tests = [each for each in contents.gain_tests if each.gain.metric in there]
    shown = tests
    if len(tests) > ROWS_MAX:
        shown = [each for each in tests if each.gain.metric == primary][:ROWS_MAX]
    # The primary metric first, the networks and stacks of each metric together.
    order = {metric: at for at, metric in enumerate(contents.metrics)}
    rows = [_row(each) for each in sorted(shown, key=lambda each: order[each.gain.metric])]
    columns = [
        "metric", "network", "stack", "gain, 95 % interval", "p", "p after Holm",
        "p after Benjamini-Hochberg", "p of equivalence",
    ]  # fmt: skip
    effect = contents.plan["smallest_effect_of_interest"]
    members = next((each.members for each in shown if each.gain.metric == primary), 0)
    note = NOTE.format(
        primary=title_of(primary), members=members, effect=percent(effect, signed=False)
    )
    if left_out := len(tests) - len(shown):
        note += f" {left_out} comparisons of other metrics are in `eyelevel report --json`."
    if contents.plan.get("stop"):
        note += (
            f" Since the study might stop at any block, p of {title_of(primary)} is its confidence "
            "sequence's, corrected after Bonferroni where Holm's stands; those of other metrics do "
            "not allow for stopping."
        )
    summary = "p values, corrections and equivalence"
    return collapsed_table(summary, "The gains' p values", columns, rows, note)


def p_values_as_json(each: GainTests) -> dict[str, Any]:
    """What stands beside a gain for machines."""
    return {
        "p_benjamini_hochberg": each.p_benjamini_hochberg,
        "p_equivalence": each.equivalence.p,
        "family": each.family,
    }


def _row(each: GainTests) -> list[object]:
    gain = each.gain.gain
    alike = each.equivalence
    return [
        title_of(each.gain.metric),
        each.gain.network,
        each.gain.stack,
        estimate_cell(gain, percent),
        _p(gain.p),
        _p(each.gain.p_holm),
        _p(each.p_benjamini_hochberg),
        undetermined_cell(alike.reason) if alike.p is None else p_value(alike.p),
    ]


def _p(value: float | None) -> object:
    return element("span", "none", class_="quiet") if value is None else p_value(value)
