"""The basis of an answer in three marks: the level, the loads that count, the machine."""

from dataclasses import dataclass

import polars as pl

from eyelevel.analysis.formats import format_percent
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.starvation import find_disturbed_blocks
from eyelevel.base.json_types import JsonObject
from eyelevel.report.first_screen.warnings import (
    Warning,
    late_loads,
    level_warnings,
    load_warnings,
    machine_warnings,
)
from eyelevel.report.html import Markup, render
from eyelevel.report.sections.level import (
    ONE_STACK,
    find_compared_levels,
    find_compared_pairs,
    not_level,
)
from eyelevel.report.sections.outcomes import count_changed_findings, describe_exclusions
from eyelevel.store.outcomes import OUTCOMES_BY_NAME

FAILED = tuple(name for name, outcome in OUTCOMES_BY_NAME.items() if outcome.fault == "instrument")
GOOD, OPEN, BAD = "holds", "open", "does not hold"
SIGNS = {GOOD: "✓", OPEN: "?", BAD: "!"}

DISTURBED_SHARE_MAX = 0.2
"""The largest share of disturbed blocks, or of late loads, of a machine that counts as undisturbed.
With more, each network may still have an answer."""

WORTH_A_WORD = 0.01
"""The share of the processors from which the mark reports what other programs used in the median
load; “What was run” always has it."""


@dataclass(frozen=True)
class Mark:
    """One part of an answer's basis: its status, a line on it, and its warnings."""

    name: str
    status: str
    """One of GOOD, OPEN and BAD."""
    finding: str
    warnings: tuple[Warning, ...]
    note: str

    @property
    def sign(self) -> str:
        """The character of the status."""
        return SIGNS[self.status]

    @property
    def style(self) -> str:
        """The CSS class of the status."""
        return self.status.split()[0]

    def as_json(self) -> JsonObject:
        """Return the mark as JSON."""
        return {
            "name": self.name.lower(),
            "status": self.status,
            "finding": self.finding,
            "warnings": [f"{head} {text}" for head, text in self.warnings],
        }


@dataclass(frozen=True)
class RestsOn:
    """The marks below an answer: sample, level and machine, each one line that unfolds."""

    marks: tuple[Mark, ...]

    def as_json(self) -> list[JsonObject]:
        """Return the marks as JSON."""
        return [mark.as_json() for mark in self.marks]


def rests_on(results: StudyResults) -> RestsOn:
    """Return the marks of a run."""
    return RestsOn((_level(results), _loads_mark(results), _machine(results)))


def marks(results: StudyResults) -> Markup:
    """Return the HTML of the marks."""
    return render("marks", rests_on(results))


def _level(results: StudyResults) -> Mark:
    pairs = len(find_compared_pairs(results))
    measured = len(find_compared_levels(results))
    unequal, unknown = not_level(results), level_warnings(results)
    text = f"{measured} of {pairs} pairs measured, all level" if pairs else ONE_STACK
    if unequal:
        text = f"{len(unequal)} of {pairs} pairs differ in more than their protocols"
    elif measured < pairs:
        text = f"{pairs - measured} of {pairs} pairs not measured here"
    elif unknown:
        text = "measured, but some aspects are still unknown"
    status = BAD if unequal else OPEN if unknown else GOOD
    note = (
        "This mark says whether the stacks of a comparison are alike in everything but what is "
        "compared, as measured on this machine before the run began. Under “For reviewers”, the "
        "appendix has every aspect that was measured, and “Stacks: set and measured” what was "
        "set and what the loads themselves showed."
    )
    return Mark("Level", status, text, tuple(unknown), note)


def _loads_mark(results: StudyResults) -> Mark:
    whole, planned = results.blocks.whole, results.blocks_planned
    withheld = results.too_disturbed
    excluded = sum(block.network not in withheld for block in results.blocks.excluded)
    text = f"{whole} of {planned} blocks whole"
    if excluded:
        text += f", {excluded} {'not complete' if results.unfinished else 'with loads left out'}"
    if withheld:
        text += f"; no answer on {' and '.join(withheld)}"
    changed = count_changed_findings(results)
    if changed:
        text += (
            f"; including them would change {changed} {'finding' if changed == 1 else 'findings'}"
        )
    none = "No load of a comparison failed." if excluded or withheld else "No load was left out."
    left_out = describe_exclusions(results) or none
    note = f"A block is one load of a site over a network with each stack. {left_out}"
    warnings = load_warnings(results)
    status = BAD if changed else OPEN if excluded or withheld or warnings else GOOD
    return Mark("Loads", status, text, tuple(warnings), note)


def _machine(results: StudyResults) -> Mark:
    warnings = machine_warnings(results)
    failed = results.table.filter(pl.col("outcome").is_in(FAILED)).height
    again = int(results.table["retried"].sum())
    bad = results.too_disturbed or max(_compute_disturbed_shares(results)) > DISTURBED_SHARE_MAX
    parts = [warnings[0][0].removeprefix("The machine was ").rstrip(".")] if warnings else []
    of_all = f"of {results.table.height} loads failed because of the instrument"
    parts += [f"{failed} {of_all}"] if failed else []
    parts += [f"{again} {'attempt' if again == 1 else 'attempts'} repeated"] if again else []
    note = (
        "Every load measures how much processor time other programs and the hypervisor took, and "
        "how late its packets were. A block that others disturbed is left out with the loads of "
        "all stacks, whatever these did. “Outcomes”, under “For reviewers”, has the reason of "
        "each, and a test whether some stacks' loads failed more often than others'."
    )
    text = "; ".join(parts) or f"none {of_all}"
    share = results.table["cpu_foreign_share"].median()
    if isinstance(share, float) and share >= WORTH_A_WORD:
        text += f"; other programs took {format_percent(share, signed=False)} in the median load"
    status = BAD if bad else OPEN if parts else GOOD
    return Mark("Machine", status, text, tuple(warnings), note)


def _compute_disturbed_shares(results: StudyResults) -> tuple[float, float]:
    """Return the shares of disturbed blocks and of compared loads with late packets."""
    blocks, loads = results.table["block"].n_unique(), results.blocks.kept.height
    return (
        len(find_disturbed_blocks(results.table)) / max(1, blocks),
        late_loads(results) / max(1, loads),
    )
