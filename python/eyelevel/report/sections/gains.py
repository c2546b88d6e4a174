"""The table of gains, and collapsed below it what else can be said of them."""

import math

from eyelevel.analysis.claims import CLAIMS, no_verdict_because, verdict_of
from eyelevel.analysis.formats import NO_BREAK, format_p, format_percent, format_signed_ms
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.gains.p_values import GainTests
from eyelevel.analysis.shown import title_of
from eyelevel.analysis.study import Contents
from eyelevel.analysis.undecided import needed_to_decide
from eyelevel.json_types import JsonObject
from eyelevel.report.html import Markup, element, join, table, titled_section
from eyelevel.report.sections.other_sites import other_sites_details, other_sites_json
from eyelevel.report.sections.timeouts import timeouts_beside, timeouts_details, timeouts_json
from eyelevel.report.statistic_cells import (
    collapsed_table,
    compared_json,
    estimate_cell,
    undetermined_cell,
)

ROWS_MAX = 400  # a larger study shows its primary metric's, and of those the first ones


NOTE = (
    "p is for the hypothesis of no difference and comes from the t interval. It assumes that "
    "repetitions are independent and that their means are about normal. The median describes a "
    "typical repetition and the difference compares means, both over the sites; if mean and median "
    "have opposite signs, there is no verdict. Holm's correction applies to the primary metric "
    "and decides whether a stack is called faster or slower: it bounds the chance of any false "
    "claim in the family. The correction of Benjamini and Hochberg bounds the share of false "
    "claims among all claims, if the comparisons are independent or positively dependent, and "
    "finds more. A family is all comparisons of one metric over all networks; {members} of "
    "{primary} have a p value. p of equivalence comes from two one-sided t tests (TOST). It is "
    "at most 0.05 if the 90 % interval lies within ±{effect}, the smallest effect of interest. "
    "Like the interval it is computed on the logarithm; it makes the same assumptions as p and "
    "is not corrected. The finding “no difference that matters” requires that the whole 95 % "
    "interval lies within these bounds and that this p, after Bonferroni's correction over the "
    "family, is at most 0.05. In a study that may stop early it requires one-sided confidence "
    "sequences within these bounds instead."
)


def gains_section(contents: Contents) -> Markup:
    """One table a network: a row a metric, a column a stack."""
    by_key = {(gain.network, gain.comparison, gain.metric): gain for gain in contents.gains}
    heads = [str(asked) for asked in contents.comparisons]
    tables = []
    for network in contents.planned.networks:
        name = network.name
        rows = [
            [
                _metric_name(contents, metric),
                *(
                    _gain_cell(contents, by_key.get((name, asked, metric)))
                    for asked in contents.comparisons
                ),
            ]
            for metric in contents.metrics
        ]
        caption = join([element("strong", name), " ", element("span", network.described())])
        tables.append(table(caption, ["metric", *heads], rows, class_="gains"))
    note = (
        "The gain of X against its reference is the geometric mean over sites of X / reference "
        f"within blocks, minus one; negative is faster. Below each gain is its 95{NO_BREAK}% "
        "interval, from Student's t over repetitions, where each repetition counts with its "
        "mean over the sites. It covers the run-to-run noise of these sites in this lab, not "
        f"what other sites would show. {title_of(contents.primary_metric)} was declared as the "
        "primary metric; "
    )
    if contents.may_stop:
        note += (
            "because the study could stop at any block, its interval is a confidence sequence, "
            "which holds jointly at all blocks and for all comparisons. The other metrics "
            "only describe: they are neither corrected nor adjusted for stopping."
        )
    else:
        note += (
            "its comparisons are corrected after Holm before anything is called faster or "
            "slower. The other metrics only describe and are not corrected."
        )
    if contents.unfinished:
        note += " The run is not complete, so nothing is called faster or slower yet."
    if any(cell.timeouts or cell.timeouts_reference for cell in contents.cells):
        note += (
            " A load that timed out counts as its limit; the medians and paired differences "
            "under “Site by site” treat it as slower than that."
        )
    return titled_section(
        "gain",
        "Performance gain",
        element("div", *tables, class_="pair"),
        element("p", note, class_="note"),
    )


def _metric_name(contents: Contents, metric: str) -> object:
    title = title_of(metric)
    if metric == contents.primary_metric:
        return join([title, " ", element("span", "primary", class_="tag")])
    return title


def _gain_cell(contents: Contents, gain: NetworkGain | None) -> object:
    if gain is None or (gain.gain.value is None and not gain.gain.reason):
        return element("span", "no data", class_="quiet")
    estimate = gain.gain
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return estimate_cell(estimate, format_percent)
    found = verdict_of(contents, gain)
    cell = estimate_cell(estimate, format_percent, found if found in CLAIMS else "unclear")
    return join([cell, timeouts_beside(gain)])


def gains_json(contents: Contents) -> JsonObject:
    """An object a gain for machines, with its p values."""
    would_decide = {
        (each.network, each.comparison, each.gain.metric): each.as_json()
        for each in needed_to_decide(contents)
    }
    return {
        "gains": [
            {
                **compared_json(gain),
                "gain": gain.gain.as_json(),
                "median": gain.median.as_json(),
                "difference": gain.difference.as_json(),
                "ratio_of_means": gain.ratio_of_means.as_json(),
                "timeouts": timeouts_json(gain),
                "slow_loads": slow_loads_json(gain),
                "p_holm": gain.p_holm,
                "p_benjamini_hochberg": tests.p_benjamini_hochberg,
                "p_equivalence": tests.equivalence.p,
                "family": tests.family,
                "verdict": verdict_of(contents, gain),
                "no_verdict_because": no_verdict_because(contents, gain),
                "one_sided": _bounds_json(gain),
                "would_decide": would_decide.get((gain.network, gain.comparison, gain.metric)),
            }
            for tests in contents.gain_tests
            for gain in (tests.gain,)
        ]
    }


def _bounds_json(gain: NetworkGain) -> JsonObject | None:
    """The one-sided bounds of a primary gain of a study that may stop early."""
    bounds = gain.one_sided
    return None if bounds is None else {"low": bounds.low, "high": bounds.high}


def slow_loads_json(gain: NetworkGain) -> JsonObject | None:
    """Of the primary metric the shares of slow loads, and what tells them apart."""
    slow = gain.slow_loads
    if slow is None:
        return None
    shares = {name: getattr(slow, name).as_json() for name in ("share", "share_reference")}
    return {**shares, "pairs": slow.pairs, "p": slow.p, "p_holm": gain.p_slow_holm}


def gain_details(contents: Contents) -> Markup:
    """Nothing where there is nothing to say."""
    parts = (timeouts_details, p_values_details, other_sites_details)
    details = [markup for markup in (part(contents) for part in parts) if markup]
    if not details:
        return Markup("")
    return element("section", *details, aria_label="more about the gains")


def gain_details_json(contents: Contents) -> JsonObject:
    """What stands below the gains, but for their p values, which `gains_json` has."""
    return other_sites_json(contents)


def p_values_details(contents: Contents) -> Markup:
    """Collapsed; nothing where no gain has a p value."""
    if all(tested.gain.gain.p is None for tested in contents.gain_tests):
        return Markup("")
    primary = contents.primary_metric
    # A metric that no load has, as those of frames without any, has nothing to say here.
    there = {
        primary,
        *(tested.gain.metric for tested in contents.gain_tests if tested.gain.gain.p is not None),
    }
    tests = [tested for tested in contents.gain_tests if tested.gain.metric in there]
    shown = tests
    if len(tests) > ROWS_MAX:
        shown = [tested for tested in tests if tested.gain.metric == primary][:ROWS_MAX]
    # The primary metric first, the networks and comparisons of each metric together.
    order = {metric: place for place, metric in enumerate(contents.metrics)}
    rows = [_row(tested) for tested in sorted(shown, key=lambda tested: order[tested.gain.metric])]
    columns = [
        "metric", "network", "stack", "reference", "gain, 95 % interval", "median, 95 % interval",
        "difference, 95 % interval", "p", "p after Holm",
        "p after Benjamini-Hochberg", "p of equivalence",
    ]  # fmt: skip
    effect = contents.smallest_effect
    members = next(
        (tested.members for tested in shown if tested.gain.metric == primary),
        0,
    )
    note = NOTE.format(
        primary=title_of(primary), members=members, effect=format_percent(effect, signed=False)
    )
    if left_out := len(tests) - len(shown):
        note += f" {left_out} comparisons of other metrics are in `eyelevel report --json`."
    if contents.may_stop:
        note += (
            f" Because the study could stop at any block, p of {title_of(primary)} comes from "
            "its confidence sequence and is corrected after Bonferroni in the column for Holm; "
            "the p values of other metrics do not allow for stopping."
        )
    summary = "p values, corrections and equivalence"
    return collapsed_table(summary, "The gains' p values", columns, rows, note)


def _row(tests: GainTests) -> list[object]:
    gain = tests.gain.gain
    alike = tests.equivalence
    return [
        title_of(tests.gain.metric),
        tests.gain.network,
        tests.gain.stack,
        tests.gain.reference,
        estimate_cell(gain, format_percent),
        estimate_cell(tests.gain.median, format_percent),
        estimate_cell(tests.gain.difference, lambda ms: format_signed_ms(ms, math.inf)),
        _format_p_or_none(gain.p),
        _format_p_or_none(tests.gain.p_holm),
        _format_p_or_none(tests.p_benjamini_hochberg),
        undetermined_cell(alike.reason) if alike.p is None else format_p(alike.p),
    ]


def _format_p_or_none(value: float | None) -> object:
    return element("span", "none", class_="quiet") if value is None else format_p(value)
