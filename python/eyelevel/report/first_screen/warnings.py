"""What a reader must know beside the numbers: of the answer, the level, the loads, the machine."""

from dataclasses import replace

import polars as pl

from eyelevel.analysis.decisions import rule_of
from eyelevel.analysis.formats import NO_BREAK, format_percent
from eyelevel.analysis.gains.sequential import (
    BLOCKS_COUNTED_MAX,
    ComparisonState,
    blocks_needed,
    comparison_states,
)
from eyelevel.analysis.phrases import FEW_BLOCKS, SIGNIFICANCE_LEVEL, detectable
from eyelevel.analysis.study import Contents
from eyelevel.report.first_screen.changed_since import Warning, decided_otherwise
from eyelevel.report.first_screen.machine_warnings import machines_deviate, of_machine
from eyelevel.report.sections.level import not_level, not_measured


def warnings(contents: Contents) -> list[Warning]:
    """All of them, the gravest first."""
    return [
        *said_first(contents),
        *of_loads(contents),
        *of_machine(contents),
        *_of_sites(contents),
        *of_answer(contents),
        *not_measured(contents),
    ]


def said_first(contents: Contents) -> list[Warning]:
    """What must be said before the answer."""
    return [
        *_unfinished(contents),
        *_not_declared(contents),
        *outcomes_differ(contents),
        *not_level(contents),
    ]


def _not_declared(contents: Contents) -> list[Warning]:
    if not contents.declared:
        return []
    asked = ", ".join(map(str, contents.declared))
    text = (
        f"The plan asks about {asked}. The comparisons shown here were chosen after the loads "
        "had been made, and the corrections allow for these comparisons only."
    )
    return [("These are not the comparisons that the plan declared.", text)]


def of_answer(contents: Contents) -> list[Warning]:
    """How far the answer carries."""
    found = []
    if contents.stopped:
        head = "The study stopped early."
        if contents.stopped["repetition"] is None:
            head = "Part of the study stopped early."
        text = f"{contents.stopped['reason']}. These intervals hold no matter when the study stops."
        found.append((head, text))
    found += decided_otherwise(contents)
    found += not_sure_enough(contents)
    found += machines_deviate(contents)
    if (blocks := contents.plan["blocks"]) < FEW_BLOCKS and not contents.may_stop:
        found.append(_few_blocks(contents, blocks))
    return found


def of_level(contents: Contents) -> list[Warning]:
    """What else may make a difference than the stacks themselves."""
    return [*_of_sites(contents), *not_measured(contents)]


def _of_sites(contents: Contents) -> list[Warning]:
    found = []
    for site, altered in contents.environment.get("altered_sites", {}).items():
        text = f"{'. '.join(altered)}. Its loads show how the altered page behaves."
        found.append((f"{site} was altered after recording.", text))
    for site, share in contents.environment.get("secure_shares", {}).items():
        seen = contents.table.filter((pl.col("site") == site) & (pl.col("outcome") == "ok"))
        middle = seen["cleartext_share"].median()
        loaded = ""
        if isinstance(middle, float):
            loaded = f" ({format_percent(middle, signed=False)} of the bytes of its loads)"
        text = (
            f"{format_percent(1 - share, signed=False)} of its objects{loaded} were recorded "
            "over http. With every stack they come in cleartext over HTTP/1.1, as they did "
            "when recorded, so the stacks have less to differ in than on an all-https page."
        )
        found.append((f"{site} is not entirely https.", text))
    return found


def of_loads(contents: Contents) -> list[Warning]:
    """Of the records themselves."""
    if not contents.foreign:
        return []
    text = f"{contents.foreign} records that are not in the plan are left out."
    return [("The directory holds other records.", text)]


def outcomes_differ(contents: Contents) -> list[Warning]:
    """What must be said before anything else: stacks differ in how often their loads end badly."""
    warnings_found = []
    for test, what in (
        (contents.timeout_rates, "time out"),
        (contents.failure_rates, "fail because of the instrument"),
    ):
        if test.p is not None and test.p <= SIGNIFICANCE_LEVEL:
            text = (
                f"Loads {what} more often with some stacks than with others (p = {test.p:.2g}); "
                "see “Outcomes” below. The remaining loads may not be comparable."
            )
            warnings_found.append(("Outcomes differ between stacks.", text))
    return warnings_found


def _unfinished(contents: Contents) -> list[Warning]:
    if not contents.unfinished:
        return []
    blocks = contents.blocks.whole
    text = (
        f"{contents.unfinished}, and {blocks} of {contents.blocks_planned} blocks are complete. "
        "The numbers describe only these blocks, and their intervals do not allow for stopping "
        "a run early. To load the rest, run the same command with --resume."
    )
    return [("No verdict: the run is not complete.", text)]


def _few_blocks(contents: Contents, blocks: int) -> Warning:
    effects = detectable(contents.gains, contents.primary_metric)
    text = "So few blocks cannot show small effects, and one quiet or busy moment weighs heavily."
    if effects:
        low, high = (format_percent(effect, signed=False) for effect in effects)
        size = f"about {high}"
        if low != high:
            size = f"{low} (most precise comparison) to {high} (least)"
        text = f"True differences smaller than {size} would often be missed. This is a first look."
    counted = f"{blocks} {'block' if blocks == 1 else 'blocks'}"
    return (f"Only {counted} per site and network.", text)


NAMED_MAX = 3  # comparisons; more would bury what they say


def not_sure_enough(contents: Contents) -> list[Warning]:
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
        rest = len(unsure) - NAMED_MAX
        clauses.append(f"{rest} more {'is' if rest == 1 else 'are'} not precise enough either")
    clauses[0] = clauses[0].replace("the interval", "The interval", 1)
    or_sign = ", or no wider than the gain" if rule.clear_sign else ""
    text = f"{'; '.join(clauses)}; the plan asks for at most {_format_points(width_max)}{or_sign}."
    needed = [
        blocks_needed(gain, rule)
        for gain, comparison in zip(gains, states, strict=True)
        if comparison.state == "open"
    ]
    if None not in needed:
        most = max(count for count in needed if count is not None)
        text += f" At the spread seen here, that would take about {most} blocks."
    elif any(comparison.width is not None for comparison in unsure):
        text += (
            f" At the spread seen here, not even {BLOCKS_COUNTED_MAX} blocks would be enough; a "
            "quieter machine may help."
        )
    return [("Not precise enough.", text)]


def _format_width(comparison: ComparisonState) -> str:
    which = f"{comparison.comparison} on {comparison.network}"
    if comparison.width is None:
        return f"{which} has no interval"
    return f"the interval of {which} is {_format_points(comparison.width)} wide"


def _format_points(width: float) -> str:
    """A width of an interval of shares: `12.3 percentage points`."""
    return f"{format_percent(width, signed=False).removesuffix(f'{NO_BREAK}%')} percentage points"
