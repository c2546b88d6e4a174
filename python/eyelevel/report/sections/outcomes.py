"""The outcomes of the loads, and every load that is left out of the comparison."""

import polars as pl

from eyelevel.analysis.phrases import SIGNIFICANCE_LEVEL
from eyelevel.analysis.stats.hypothesis.cochran_q import RateTest
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.disturbance import briefly
from eyelevel.base.json_types import JsonObject
from eyelevel.report.html import Markup, element, table, titled_section
from eyelevel.report.sections.exclusions import exclusions_json, exclusions_table
from eyelevel.store.outcomes import OUTCOMES

LOADS_MAX = 500  # rows of loads that were not ok


SHORT_HASH = 12

WHY_IT_MATTERS = (
    "Loads in which the instrument failed, repeated ones included, are not counted. If it fails "
    "more often in the slow loads of one stack, that stack looks faster than it is."
)


def outcomes_section(contents: StudyResults) -> Markup:
    """Return the outcomes by stack, the tests of their rates, and every load that was not ok."""
    counts = {
        (row["stack"], row["outcome"]): row["len"]
        for row in contents.table.group_by("stack", "outcome").len().iter_rows(named=True)
    }
    seen = [outcome for outcome in OUTCOMES if any(name == outcome.name for _, name in counts)]
    rows = [
        [
            outcome.name,
            *(counts.get((stack, outcome.name), 0) for stack in contents.stacks),
            outcome.meaning,
        ]
        for outcome in seen
    ]
    again = dict(contents.table.group_by("stack").agg(pl.col("retried").sum()).iter_rows())
    if any(again.values()):
        counted = [again.get(stack, 0) for stack in contents.stacks]
        rows.append(
            ["(retried)", *counted, "Attempts that failed, after which the load was repeated."]
        )
    columns = ["outcome", *contents.stacks, "meaning"]
    return titled_section(
        "outcomes",
        "Outcomes",
        table("How the loads ended, by stack", columns, rows, class_="outcomes"),
        element("p", _rate_sentence("timeouts", contents.timeout_rates)),
        element("p", _rate_sentence("failures of the instrument", contents.failure_rates)),
        element("p", WHY_IT_MATTERS, class_="note"),
        _not_ok(contents),
        _retries_table(contents),
        _describe_excluded_blocks(contents),
        exclusions_table(contents),
    )


def outcomes_json(contents: StudyResults) -> JsonObject:
    """Return the numbers of outcomes by stack, and the excluded blocks."""
    counts: dict[str, dict[str, int]] = {stack: {} for stack in contents.stacks}
    rows = contents.table.group_by("stack", "outcome").len().sort("outcome")
    for stack, outcome, count in rows.iter_rows():
        counts[stack][outcome] = count
    excluded = [
        {"block": block.block, "reason": block.reason} for block in contents.blocks.excluded
    ]
    return {
        "outcomes": counts,
        "blocks_excluded": excluded,
        "exclusions": exclusions_json(contents),
    }


def _rate_sentence(what: str, test: RateTest) -> str:
    if test.p is None:
        return f"No test of {what}: {test.reason}."
    finding = f"No difference in {what} is shown"
    if test.p <= SIGNIFICANCE_LEVEL:
        finding = f"The stacks differ in {what}"
    return f"{finding} (permutation of Cochran's Q, p = {test.p:.2g})."


def _not_ok(contents: StudyResults) -> Markup:
    failed = contents.table.filter(pl.col("outcome") != "ok").sort("block", "position")
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
    caption = f"Loads that did not end as ok: {failed.height} of {contents.table.height}"
    if failed.height > LOADS_MAX:
        caption += f" (the first {LOADS_MAX})"
    return table(caption, ["block", "stack", "outcome", "reason", "trial"], rows, class_="loads")


def _retries_table(contents: StudyResults) -> Markup:
    """Return every attempt that failed and was repeated, with its reason."""
    again = contents.table.filter(pl.col("retried") > 0).sort("block", "position")
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


def _describe_excluded_blocks(contents: StudyResults) -> Markup:
    """Return one row per site, network and reason, with the repetitions that are left out."""
    excluded = contents.blocks.excluded
    planned = contents.blocks_planned
    if not excluded:
        return element("p", "No load is left out; every block is whole.")
    repetitions_by_reason: dict[tuple[str, str, str], list[int]] = {}
    for block in excluded:
        is_withheld = block.reason == contents.too_disturbed.get(block.network)
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
