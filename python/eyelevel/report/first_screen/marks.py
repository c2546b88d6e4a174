"""What an answer rests on, in three marks: the level, the loads that count, the machine."""

from collections.abc import Sequence

import polars as pl

from eyelevel.analysis.study import Contents
from eyelevel.report.first_screen.warnings import Warning, of_level, of_loads, of_machine
from eyelevel.report.html import Markup, element, join
from eyelevel.report.sections.exclusions import exclusions_said, findings_changed
from eyelevel.report.sections.level import levels_compared, not_level, pairs_compared
from eyelevel.store.outcomes import OUTCOMES_BY_NAME

FAILED = tuple(name for name, outcome in OUTCOMES_BY_NAME.items() if outcome.fault == "instrument")
GOOD, OPEN, BAD = "✓", "?", "!"


def marks(contents: Contents) -> Markup:
    """Each is one line, and opens to what it knows."""
    return element("div", _level(contents), _loads(contents), _machine(contents), class_="rests-on")


def _level(contents: Contents) -> Markup:
    pairs = len(pairs_compared(contents))
    measured = len(levels_compared(contents))
    unequal, unknown = not_level(contents), of_level(contents)
    said = f"{measured} of {pairs} pairs measured and level"
    if unequal:
        said = f"{len(unequal)} of {pairs} pairs unequal in more than their protocols"
    elif measured < pairs:
        said = f"{pairs - measured} of {pairs} pairs not measured here"
    elif unknown:
        said = "measured, with open ends"
    sign = BAD if unequal else OPEN if unknown else GOOD
    note = (
        "Whether the stacks are alike in all but what they are named for, as measured on this "
        "machine when the run began. Every aspect is in the appendix."
    )
    return _mark(sign, "Level", said, [*unequal, *unknown], note)


def _loads(contents: Contents) -> Markup:
    kept, planned = contents.blocks.kept["block"].n_unique(), contents.blocks_planned
    excluded = len(contents.blocks.excluded)
    said = f"{kept} of {planned} blocks compared"
    if excluded:
        said += f", {excluded} left out"
    changed = findings_changed(contents)
    if changed:
        said += f", with which {changed} {'finding' if changed == 1 else 'findings'} would change"
    note = exclusions_said(contents) or (
        "A block is one load of a site over a network with every stack. None was left out."
    )
    warnings = of_loads(contents)
    sign = BAD if changed else OPEN if excluded or warnings else GOOD
    return _mark(sign, "Loads", said, warnings, note)


def _machine(contents: Contents) -> Markup:
    warnings = of_machine(contents)
    failed = contents.table.filter(pl.col("outcome").is_in(FAILED)).height
    again = int(contents.table["retried"].sum())
    parts = [warnings[0][0].removeprefix("The machine was ").rstrip(".")] if warnings else []
    parts += [f"{failed} of {contents.table.height} loads failed by its fault"] if failed else []
    parts += [f"{again} {'attempt' if again == 1 else 'attempts'} made again"] if again else []
    note = (
        "Every load measures how late its packets were and how long processes waited for a "
        "processor; one that was disturbed is left out with its block, or made again."
    )
    said = "; ".join(parts) or f"none of {contents.table.height} loads failed by its fault"
    return _mark(OPEN if parts else GOOD, "Machine", said, warnings, note)


def _mark(sign: str, name: str, said: str, warnings: Sequence[Warning], note: str) -> Markup:
    words = {GOOD: "holds", OPEN: "open", BAD: "does not hold"}[sign]
    symbol = element("span", sign, class_=f"sign {words.split()[0]}", role="img", aria_label=words)
    summary = element("summary", symbol, " ", element("strong", name), " ", said)
    lines = [join([element("strong", head), " ", text]) for head, text in warnings]
    return element("details", summary, *(element("p", line) for line in [*lines, note]))
