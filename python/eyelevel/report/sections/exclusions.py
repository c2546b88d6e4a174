"""The effect of exclusions on the answer: gains with and without the excluded pairs."""

import polars as pl

from eyelevel.analysis.claims import verdict_of
from eyelevel.analysis.formats import format_change, format_change_interval, format_percent
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.gains.exclusions import EXCLUDING, ExclusionEffect
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.report.html import Markup, table
from eyelevel.report.statistic_cells import compared_json, estimate_cell


def describe_exclusions(contents: StudyResults) -> str:
    """Return a line on how many loads are left out, of which stacks, and their effect."""
    effects = contents.exclusions
    if not effects:
        return ""
    failed = contents.table.filter(pl.col("outcome").is_in(EXCLUDING))
    counts = dict(failed.group_by("stack").len().iter_rows())
    by_stack = [f"{counts[name]} of {name}" for name in contents.stacks if name in counts]
    loads = sum(counts.values())
    left_out, they_were = ("load is", "it was") if loads == 1 else ("loads are", "they were")
    said = (
        f"{loads} {left_out} left out because the instrument failed ({', '.join(by_stack)}), "
        f"with the pairs that {they_were} part of. "
    )
    valued = _effects_with_values(contents)
    if not valued and any(effect.network in contents.too_disturbed for effect in effects):
        return f"{said}There is no answer that they could change."
    if not valued:
        return (
            f"{said}None of these pairs has values for both stacks, so it is unknown what "
            "including them would change."
        )
    most = max(valued, key=lambda effect: effect.moved)
    said += (
        f"If the pairs with values for both stacks were included, {most.comparison} on "
        f"{most.network} would be {_describe_gain(most.gain_with_excluded)} instead of "
        f"{_describe_gain(most.gain)}"
    )
    if len(valued) > 1:
        said += ", the largest change"
    if changed := count_changed_findings(contents):
        said += f"; {changed} {'finding' if changed == 1 else 'findings'} would change"
    return f"{said}."


def count_changed_findings(contents: StudyResults) -> int:
    """Return how many findings would change with the excluded pairs that have values."""
    return sum(_finding_changes(contents, effect) for effect in _effects_with_values(contents))


def _effects_with_values(contents: StudyResults) -> list[ExclusionEffect]:
    """Return the effects that can be stated: there are values, and the network has an answer."""
    return [
        effect
        for effect in contents.exclusions
        if effect.blocks_with_values and effect.network not in contents.too_disturbed
    ]


def _describe_gain(gain: NetworkGain) -> str:
    estimate = gain.gain
    if estimate.value is None:
        return f"undetermined ({estimate.reason})"
    return f"{format_change(estimate.value)} ({format_change_interval(estimate)})"


def _finding_changes(contents: StudyResults, effect: ExclusionEffect) -> bool:
    both = (effect.gain, effect.gain_with_excluded)
    return len({verdict_of(contents, gain) for gain in both}) == 2


def exclusions_table(contents: StudyResults) -> Markup:
    """Return one row per comparison; empty if no pair is excluded."""
    effects = [each for each in contents.exclusions if each.network not in contents.too_disturbed]
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


def exclusions_json(contents: StudyResults) -> list[JsonObject]:
    """Return the exclusions as JSON, one object per comparison."""
    counts = ("blocks", "blocks_excluded", "blocks_with_values", "failed", "failed_reference")
    return [
        {
            **compared_json(effect, *counts),
            "gain": effect.gain.gain.as_json(),
            "gain_with_excluded": effect.gain_with_excluded.gain.as_json(),
            "verdict": verdict_of(contents, effect.gain),
            "verdict_with_excluded": verdict_of(contents, effect.gain_with_excluded),
        }
        for effect in contents.exclusions
    ]
