"""The first screen: the question, the answer, and what to beware of."""

from collections import Counter
from dataclasses import replace

import polars as pl

from eyelevel.analysis.decisions import rule_of
from eyelevel.analysis.formats import NO_BREAK, format_interval, format_percent
from eyelevel.analysis.gains.sequential import (
    BLOCKS_COUNTED_MAX,
    ComparisonState,
    blocks_needed,
    comparison_states,
)
from eyelevel.analysis.gains.weighted import weighted_gain
from eyelevel.analysis.phrases import (
    FEW_BLOCKS,
    SIGNIFICANCE_LEVEL,
    answer,
    description,
    detectable,
)
from eyelevel.analysis.study import Contents
from eyelevel.json_types import JsonObject
from eyelevel.report.html import Markup, element
from eyelevel.report.sections.exclusions import exclusions_said
from eyelevel.report.sections.level import not_level, not_measured

# Load average over cores, read before the run needs any: the half of them must be free.
BUSY_SHARE = 0.5


def opening(contents: Contents) -> Markup:
    """Question, answer in a sentence a comparison, and warnings."""
    plan = contents.plan
    sentences = answers(contents)
    first, excluded = said_first(contents), exclusions_said(contents)
    class_ = "answer unclear" if contents.unfinished else "answer"
    return element(
        "header",
        element("p", "eyelevel report", class_="eyebrow"),
        element("h1", plan["title"] or "How do the stacks compare?"),
        *map(_warning, first),
        *(element("p", sentence, class_=class_) for sentence in sentences),
        *([element("p", "Exclusions: ", excluded, class_="note")] if excluded else []),
        *(_warning(warning) for warning in warnings(contents) if warning not in first),
    )


def opening_json(contents: Contents) -> JsonObject:
    """The same for machines."""
    return {
        "answer": answers(contents),
        "stopped": contents.stopped["reason"] if contents.stopped else None,
        "unfinished": contents.unfinished or None,
        "warnings": [f"{head} {text}" for head, text in warnings(contents)],
    }


def answers(contents: Contents) -> list[str]:
    """A sentence a comparison, one over all networks of a plan with weights; why there is none.

    Of an unfinished run they describe, and no more.
    """
    if not contents.blocks.kept.height:
        return [_why_no_answer(contents), *overall(contents)]
    if contents.unfinished:
        return [*description(contents.gains, contents.primary_metric), *overall(contents)]
    sentences = answer(contents.gains, contents.primary_metric, contents.smallest_effect)
    return [*sentences, *overall(contents)]


def _why_no_answer(contents: Contents) -> str:
    """What ended most of the loads that count for nothing."""
    nothing = "There is no complete block to compare yet"
    failed = contents.table.filter(~pl.col("outcome").is_in(["ok", "timeout"]))
    if not failed.height:
        return f"{nothing}."
    (outcome, count), *_ = (
        failed.group_by("outcome", maintain_order=True)
        .len()
        .sort("len", descending=True, maintain_order=True)
        .iter_rows()
    )
    details = failed.filter(pl.col("outcome") == outcome)["outcome_detail"]
    detail, often = Counter(details.to_list()).most_common(1)[0]
    which = "" if often == count else "one of them: "
    loads = contents.table.height
    return f"{nothing}: {count} of {loads} loads ended as {outcome}: {which}{detail.rstrip('.')}."


def _warning(warning: tuple[str, str]) -> Markup:
    head, text = warning
    return element("p", element("strong", head), " ", text, class_="warning", role="note")


def overall(contents: Contents) -> list[str]:
    """A sentence a comparison about its gain over all networks, if the plan has weights."""
    weights, metric = contents.plan.get("weights"), contents.primary_metric
    if not weights:
        return []
    sentences = []
    for asked in contents.comparisons:
        gains = [
            gain for gain in contents.gains if (gain.comparison, gain.metric) == (asked, metric)
        ]
        mean = weighted_gain(gains, weights)
        if mean.value is None or mean.low is None:
            answer_text = f"undetermined ({mean.reason})"
        else:
            answer_text = f"{format_percent(mean.value)}, 95 % interval {format_interval(mean)}"
        sentences.append(f"{asked} over all networks, by their weights: {answer_text}.")
    return sentences


def outcomes_differ(contents: Contents) -> list[tuple[str, str]]:
    """What must be said before anything else: stacks differ in how often their loads end badly."""
    warnings_found = []
    for test, what in (
        (contents.timeout_rates, "time out"),
        (contents.failure_rates, "fail by the instrument's fault"),
    ):
        if test.p is not None and test.p <= SIGNIFICANCE_LEVEL:
            text = (
                f"Loads {what} more often with some stacks than with others "
                f"(p = {test.p:.2g}); see the outcomes below. What is left may not be comparable."
            )
            warnings_found.append(("Outcomes differ between stacks.", text))
    return warnings_found


def said_first(contents: Contents) -> list[tuple[str, str]]:
    """What must be said before the answer."""
    return [*_unfinished(contents), *outcomes_differ(contents), *not_level(contents)]


def _unfinished(contents: Contents) -> list[tuple[str, str]]:
    if not contents.unfinished:
        return []
    blocks = contents.blocks.kept["block"].n_unique()
    text = (
        f"{contents.unfinished}, {blocks} of {contents.blocks_planned} blocks are whole. The "
        "numbers describe these; their intervals do not allow for ending a run before its end. "
        "The same command with --resume loads the rest."
    )
    return [("No verdict: the run is not complete.", text)]


def warnings(contents: Contents) -> list[tuple[str, str]]:
    """What a reader must know before the numbers: a heading and a sentence each."""
    sentences = said_first(contents)
    if contents.declared:
        asked = ", ".join(map(str, contents.declared))
        text = (
            f"Its plan asks about {asked}. What is shown here was chosen when the loads were "
            "there, and corrections allow for these comparisons alone."
        )
        sentences.append(("Not what the study declared.", text))
    if contents.stopped:
        head = "The study stopped early."
        if contents.stopped["repetition"] is None:
            head = "Part of the study stopped early."
        text = f"{contents.stopped['reason']}. These intervals hold whenever one stops."
        sentences.append((head, text))
    sentences += not_sure_enough(contents)
    if contents.foreign:
        text = f"{contents.foreign} records that the plan does not name are left out."
        sentences.append(("Other records in the directory.", text))
    load, cores = (contents.environment.get(key) for key in ("load_1min", "cores"))
    if load is not None and cores is not None and load > BUSY_SHARE * cores:
        text = (
            f"When the run began, {load:.1f} processes were competing for {cores} cores. Loads may "
            "have waited for the processor, and stacks that need more of it look slower."
        )
        sentences.append(("The machine was busy.", text))
    broken = [
        f"{name} {check['measured']} (bound: {check['bound']})"
        for name, check in contents.environment.get("path_checks", {}).items()
        if check["passed"] is False
    ]
    if broken:
        text = (
            f"Measured when the run began: {'; '.join(broken)}. Loads that saw late packets are "
            "excluded; `eyelevel validate path` shows whether the machine can do better."
        )
        sentences.append(("The emulated network was not within its bounds.", text))
    for site, altered in contents.environment.get("altered_sites", {}).items():
        text = f"{'. '.join(altered)}. Its loads say how the altered page behaves."
        sentences.append((f"{site} is not as it was recorded.", text))
    for site, share in contents.environment.get("secure_shares", {}).items():
        text = (
            f"{format_percent(1 - share, signed=False)} of its objects were recorded over http: "
            "they come in cleartext over HTTP/1.1 with every stack, so that stacks look more alike "
            "than they are."
        )
        sentences.append((f"{site} is not all https.", text))
    if len(_versions(contents)) > 1:
        text = "The loads were made with more than one version; see what was run."
        sentences.append(("Versions changed during the run.", text))
    if (blocks := contents.plan["blocks"]) < FEW_BLOCKS and not contents.may_stop:
        sentences.append(_few_blocks(contents, blocks))
    return [*sentences, *not_measured(contents)]


def _few_blocks(contents: Contents, blocks: int) -> tuple[str, str]:
    effects = detectable(contents.gains, contents.primary_metric)
    text = "So few cannot show small effects, and a quiet moment or a busy one weighs heavily."
    if effects:
        low, high = (format_percent(effect, signed=False) for effect in effects)
        size = f"about {high}" if low == high else f"{low} to {high}, by stack and network,"
        text = (
            f"With the spread seen here, a true difference smaller than {size} would often be "
            "missed. Take it as a first look, not as a study."
        )
    return (f"Only {blocks} {'block' if blocks == 1 else 'blocks'}.", text)


def _versions(contents: Contents) -> set[str]:
    return set(contents.table["versions"].unique())


NAMED_MAX = 3  # comparisons; more would bury what they say


def not_sure_enough(contents: Contents) -> list[tuple[str, str]]:
    """A heading and a sentence where an interval is wider than the plan asked for; else nothing.

    Nothing, too, while the run goes on, which is not sure enough by its nature.
    """
    if not contents.may_stop or not contents.blocks.kept.height:
        return []
    if contents.unfinished:
        return []
    plan = contents.planned
    rule = replace(rule_of(plan), futility=False)
    width_max, metric = rule.width_max, contents.primary_metric
    gains = [gain for gain in contents.gains if gain.metric == metric]
    states = comparison_states(gains, rule, plan.blocks, plan.blocks)
    unsure = [comparison for comparison in states if comparison.state == "open"]
    if not unsure:
        return []
    clauses = [_format_width(comparison) for comparison in unsure[:NAMED_MAX]]
    if len(unsure) > NAMED_MAX:
        clauses.append(f"{len(unsure) - NAMED_MAX} more are not sure enough, either")
    or_sign = ", or no wider than the gain" if rule.clear_sign else ""
    text = f"{'; '.join(clauses)}; asked for was at most {_format_points(width_max)}{or_sign}."
    needed = [
        blocks_needed(gain, rule)
        for gain, comparison in zip(gains, states, strict=True)
        if comparison.state == "open"
    ]
    if None not in needed:
        most = max(count for count in needed if count is not None)
        text += f" Blocks that scatter as these did would have to be about {most}."
    elif any(comparison.width is not None for comparison in unsure):
        text += (
            f" With blocks that scatter as these did, {BLOCKS_COUNTED_MAX} would not be enough: "
            "a quieter machine may be."
        )
    return [("Not sure enough.", text)]


def _format_width(comparison: ComparisonState) -> str:
    which = f"{comparison.comparison} on {comparison.network}"
    if comparison.width is None:
        return f"{which} has no interval"
    return f"the interval of {which} is {_format_points(comparison.width)} wide"


def _format_points(width: float) -> str:
    """A width of an interval of shares: `12.3 percentage points`."""
    return f"{format_percent(width, signed=False).removesuffix(f'{NO_BREAK}%')} percentage points"
