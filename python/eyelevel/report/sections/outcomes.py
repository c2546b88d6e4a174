"""The outcomes of the loads, and every load that is left out of the comparison.

Comparisons with timeouts: what is known about them, over sites and site by site. The effect of
exclusions on the answer: gains with and without the excluded pairs.
"""

import math

import polars as pl

from eyelevel.analysis.answers import format_limit
from eyelevel.analysis.claims import SIGNIFICANCE_LEVEL, verdict_of
from eyelevel.analysis.formats import (
    format_change,
    format_change_interval,
    format_p,
    format_p_equation,
    format_percent,
    format_signed_ms,
)
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.gains.exclusions import EXCLUDING, ExclusionEffect
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.stats.hypothesis import RateTest
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.starvation import briefly
from eyelevel.base.json_types import JsonObject
from eyelevel.report.html import Markup, element, join, make_titled_section, table
from eyelevel.report.statistic_cells import (
    estimate_cell,
    make_collapsed_table,
    make_compared_json,
    make_tested_cell,
    make_tested_json,
)
from eyelevel.store.outcomes import OUTCOMES

LOADS_MAX = 500  # rows of loads that were not ok


SHORT_HASH = 12

WHY_IT_MATTERS = (
    "Loads in which the instrument failed, repeated ones included, are not counted. If it fails "
    "more often in the slow loads of one stack, that stack looks faster than it is."
)


def outcomes_section(results: StudyResults) -> Markup:
    """Return the outcomes by stack, the tests of their rates, and every load that was not ok."""
    counts = {
        (row["stack"], row["outcome"]): row["len"]
        for row in results.table.group_by("stack", "outcome").len().iter_rows(named=True)
    }
    seen = [outcome for outcome in OUTCOMES if any(name == outcome.name for _, name in counts)]
    rows = [
        [
            outcome.name,
            *(counts.get((stack, outcome.name), 0) for stack in results.stacks),
            outcome.meaning,
        ]
        for outcome in seen
    ]
    again = dict(results.table.group_by("stack").agg(pl.col("retried").sum()).iter_rows())
    if any(again.values()):
        counted = [again.get(stack, 0) for stack in results.stacks]
        rows.append(
            ["(retried)", *counted, "Attempts that failed, after which the load was repeated."]
        )
    columns = ["outcome", *results.stacks, "meaning"]
    return make_titled_section(
        "outcomes",
        "Outcomes",
        table("How the loads ended, by stack", columns, rows, class_="outcomes"),
        element("p", _rate_sentence("timeouts", results.timeout_rates)),
        element("p", _rate_sentence("failures of the instrument", results.failure_rates)),
        element("p", WHY_IT_MATTERS, class_="note"),
        _describe_failures(results),
        _retries_table(results),
        _describe_excluded_blocks(results),
        _exclusions_table(results),
    )


def outcomes_json(results: StudyResults) -> JsonObject:
    """Return the numbers of outcomes by stack, and the excluded blocks."""
    counts: dict[str, dict[str, int]] = {stack: {} for stack in results.stacks}
    rows = results.table.group_by("stack", "outcome").len().sort("outcome")
    for stack, outcome, count in rows.iter_rows():
        counts[stack][outcome] = count
    excluded = [{"block": block.block, "reason": block.reason} for block in results.blocks.excluded]
    return {
        "outcomes": counts,
        "blocks_excluded": excluded,
        "exclusions": _exclusions_json(results),
    }


def _rate_sentence(what: str, test: RateTest) -> str:
    if test.p is None:
        return f"No test of {what}: {test.reason}."
    finding = f"No difference in {what} is shown"
    if test.p <= SIGNIFICANCE_LEVEL:
        finding = f"The stacks differ in {what}"
    return f"{finding} (permutation of Cochran's Q over all stacks, uncorrected p = {test.p:.2g})."


def _describe_failures(results: StudyResults) -> Markup:
    failed = results.table.filter(pl.col("outcome") != "ok").sort("block", "position")
    if failed.height == 0:
        return element("p", "Every load ended as ok.")
    rows = [
        [
            row["block"],
            row["stack"],
            row["outcome"],
            row["outcome_detail"],
            element("code", row["hash"][:SHORT_HASH]),
        ]
        for row in failed.head(LOADS_MAX).iter_rows(named=True)
    ]
    caption = f"Loads that did not end as ok: {failed.height} of {results.table.height}"
    if failed.height > LOADS_MAX:
        caption += f" (the first {LOADS_MAX})"
    return table(caption, ["block", "stack", "outcome", "reason", "trial"], rows, class_="loads")


def _retries_table(results: StudyResults) -> Markup:
    """Return every attempt that failed and was repeated, with its reason."""
    again = results.table.filter(pl.col("retried") > 0).sort("block", "position")
    rows = [
        [row["block"], row["stack"], *reason.split(": ", 1)]
        for row in again.iter_rows(named=True)
        for reason in row["retried_because"].split("\n")
    ]
    if not rows:
        return Markup("")
    caption = f"Attempts that failed and were repeated: {len(rows)}"
    if len(rows) > LOADS_MAX:
        caption += f" (the first {LOADS_MAX})"
    columns = ["block", "stack", "outcome", "reason"]
    return table(caption, columns, rows[:LOADS_MAX], class_="loads")


def _describe_excluded_blocks(results: StudyResults) -> Markup:
    """Return one row per site, network and reason, with the repetitions that are left out."""
    excluded = results.blocks.excluded
    planned = results.blocks_planned
    if not excluded:
        return element("p", "No load is left out; every block is whole.")
    repetitions_by_reason: dict[tuple[str, str, str], list[int]] = {}
    for block in excluded:
        is_withheld = block.reason == results.too_disturbed.get(block.network)
        why = briefly(block.reason) if is_withheld else block.reason
        key = block.site, block.network, why
        repetitions_by_reason.setdefault(key, []).append(block.repetition)
    rows = [[*key, spans(repetitions)] for key, repetitions in repetitions_by_reason.items()]
    caption = f"Blocks with loads that are left out: {len(excluded)} of {planned}"
    return table(caption, ["site", "network", "why", "repetitions"], rows, class_="loads")


def spans(numbers: list[int]) -> str:
    """Format numbers as ranges: `1, 3 to 5`."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(
        str(part[0]) if len(part) == 1 else f"{part[0]} to {part[-1]}" for part in parts
    )


NETWORKS_NOTE = (
    "A load that timed out took at least as long as its limit and counts as the limit in gains "
    "and differences; if only the loads of one stack timed out, the true values are at least "
    "as large. The difference is then one of restricted means, that is, of times up to the "
    "limit. If more than a fifth of a stack's loads did not finish, there is no gain, since it "
    "would reflect the limit. Both p test for equal numbers of unfinished loads. It uses the signs "
    "of the repetitions' differences and assumes that repetitions are independent; of a fixed "
    "number of blocks it is exact (for one site McNemar's test), and where a study may stop early "
    "it holds whenever one looks. The one alone is of that comparison, the corrected one of all "
    "together with the gains' own: verdicts use the corrected one. A page that did "
    "not finish, or of which the network lost an object, counts as a timeout in every metric, "
    "whatever it had shown by then."
)


def timeouts_beside(gain: NetworkGain) -> Markup:
    """Return how many loads a gain counts as their limit; empty if there are none."""
    counts = gain.timeouts
    if counts is None or not counts.any:
        return Markup("")
    text = f"unfinished: {counts.count} and {counts.count_reference} of {counts.pairs}"
    bound = "" if counts.bound == "either way" else f"; {counts.bound} this"
    return element("small", text, bound)


def timeouts_details(results: StudyResults) -> Markup:
    """Return comparisons over sites with timeouts, collapsed; empty if no load timed out."""
    rows: list[list[object]] = []
    for gain in results.gains:
        counts = gain.timeouts
        if gain.metric != results.primary_metric or counts is None or not counts.any:
            continue
        difference = estimate_cell(gain.difference, lambda ms: format_signed_ms(ms, math.inf))
        ps = ("none" if p is None else format_p(p) for p in (counts.p, gain.p_timeouts_holm))
        text = f"{counts.count} and {counts.count_reference} of {counts.pairs}"
        which = (gain.network, gain.stack, gain.reference)
        cells = (estimate_cell(gain.gain, format_percent), difference)
        rows.append([*which, text, *ps, format_limit(counts), counts.bound, *cells])
    if not rows:
        return Markup("")
    columns = [
        "network", "stack", "reference", "unfinished loads of both", "p, alone",
        "p, corrected", "limit",
        "gain with a longer limit", "gain, 95 % interval",
        "difference up to the limit, 95 % interval",
    ]  # fmt: skip
    caption = f"{title_of(results.primary_metric)}, where loads did not finish"
    return make_collapsed_table("Where loads did not finish", caption, columns, rows, NETWORKS_NOTE)


def timeouts_json(gain: NetworkGain) -> JsonObject | None:
    """Return the timeouts of a comparison and their test; None if they are unknown."""
    counts = gain.timeouts
    if counts is None:
        return None
    limits = {
        f"limit_ms_{end}": limit if math.isfinite(limit) else None
        for end, limit in (("min", counts.limit_min), ("max", counts.limit_max))
    }
    values = {name: getattr(counts, name) for name in ("count", "count_reference", "pairs")}
    return {**values, **limits, "bound": counts.bound or None, "p": counts.p,
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


def describe_censored(results: StudyResults) -> Markup:
    """Return comparisons by site with timeouts, collapsed; empty if no load timed out."""
    censored_cells = results.censored
    if not censored_cells:
        return Markup("")
    rows: list[list[object]] = []
    for censored in censored_cells:
        cell, mean = censored.cell, censored.restricted_mean_difference
        difference = estimate_cell(mean, lambda ms: format_signed_ms(ms, math.inf))
        if mean.p is not None:
            difference = join([difference, element("small", format_p_equation(mean.p))])
        counts = f"{cell.timeouts} and {cell.timeouts_reference} of {cell.pairs}"
        rank = make_tested_cell(censored.log_rank, "z")
        pair = (cell.site, cell.network, cell.stack, cell.reference)
        rows.append([*pair, counts, difference, rank])
    columns = [
        "site", "network", "stack", "reference", "timeouts of both",
        "difference of restricted means, 95 % interval", "log-rank, p",
    ]  # fmt: skip
    metric = title_of(results.primary_metric)
    caption = f"{metric} where loads timed out: {_comparisons(len(censored_cells))}"
    summary = "Loads that timed out, as censored values"
    return make_collapsed_table(summary, caption, columns, rows, SITES_NOTE, class_="cells tests")


def _comparisons(count: int) -> str:
    return "1 comparison" if count == 1 else f"{count} comparisons"


def make_censored_json(results: StudyResults) -> JsonObject:
    """Return the censored comparisons as JSON, one object per comparison."""
    return {
        "timeouts_censored": [
            {
                **make_compared_json(
                    censored.cell, "site", "pairs", "timeouts", "timeouts_reference"
                ),
                "restricted_mean_difference": censored.restricted_mean_difference.as_json(),
                "log_rank": make_tested_json(censored.log_rank),
            }
            for censored in results.censored
        ]
    }


def describe_exclusions(results: StudyResults) -> str:
    """Return a line on how many loads are left out, of which stacks, and their effect."""
    effects = results.exclusions
    if not effects:
        return ""
    failed = results.table.filter(pl.col("outcome").is_in(EXCLUDING))
    counts = dict(failed.group_by("stack").len().iter_rows())
    by_stack = [f"{counts[name]} of {name}" for name in results.stacks if name in counts]
    loads = sum(counts.values())
    left_out, they_were = ("load is", "it was") if loads == 1 else ("loads are", "they were")
    text = (
        f"{loads} {left_out} left out because the instrument failed ({', '.join(by_stack)}), "
        f"with the pairs that {they_were} part of. "
    )
    valued = _effects_with_values(results)
    if not valued and any(effect.network in results.too_disturbed for effect in effects):
        return f"{text}There is no answer that they could change."
    if not valued:
        return (
            f"{text}None of these pairs has values for both stacks, so it is unknown what "
            "including them would change."
        )
    most = max(valued, key=lambda effect: effect.moved)
    text += (
        f"If the pairs with values for both stacks were included, {most.comparison} on "
        f"{most.network} would be {_describe_gain(most.gain_with_excluded)} instead of "
        f"{_describe_gain(most.gain)}"
    )
    if len(valued) > 1:
        text += ", the largest change"
    if changed := count_changed_findings(results):
        text += f"; {changed} {'finding' if changed == 1 else 'findings'} would change"
    return f"{text}."


def count_changed_findings(results: StudyResults) -> int:
    """Return how many findings would change with the excluded pairs that have values."""
    return sum(_finding_changes(results, effect) for effect in _effects_with_values(results))


def _effects_with_values(results: StudyResults) -> list[ExclusionEffect]:
    """Return the effects that can be stated: there are values, and the network has an answer."""
    return [
        effect
        for effect in results.exclusions
        if effect.blocks_with_values and effect.network not in results.too_disturbed
    ]


def _describe_gain(gain: NetworkGain) -> str:
    estimate = gain.gain
    if estimate.value is None:
        return f"undetermined ({estimate.reason})"
    return f"{format_change(estimate.value)} ({format_change_interval(estimate)})"


def _finding_changes(results: StudyResults, effect: ExclusionEffect) -> bool:
    both = (effect.gain, effect.gain_with_excluded)
    return len({verdict_of(results, gain) for gain in both}) == 2


def _exclusions_table(results: StudyResults) -> Markup:
    """Return one row per comparison; empty if no pair is excluded."""
    effects = [each for each in results.exclusions if each.network not in results.too_disturbed]
    if not effects:
        return Markup("")
    rows: list[list[object]] = [
        [
            effect.network,
            effect.stack,
            effect.reference,
            f"{effect.blocks_excluded} of {effect.blocks}",
            f"{effect.failed} and {effect.failed_reference}",
            effect.blocks_with_values,
            *(
                estimate_cell(gain.gain, format_percent)
                for gain in (effect.gain, effect.gain_with_excluded)
            ),
        ]
        for effect in effects
    ]
    columns = [
        "network", "stack", "reference", "pairs left out", "failed loads of both",
        "left-out pairs with values of both", "gain without them", "gain with them",
    ]  # fmt: skip
    return table("What the exclusions do to the gains", columns, rows, class_="loads")


def _exclusions_json(results: StudyResults) -> list[JsonObject]:
    """Return the exclusions as JSON, one object per comparison."""
    counts = ("blocks", "blocks_excluded", "blocks_with_values", "failed", "failed_reference")
    return [
        {
            **make_compared_json(effect, *counts),
            "gain": effect.gain.gain.as_json(),
            "gain_with_excluded": effect.gain_with_excluded.gain.as_json(),
            "verdict": verdict_of(results, effect.gain),
            "verdict_with_excluded": verdict_of(results, effect.gain_with_excluded),
        }
        for effect in results.exclusions
    ]
