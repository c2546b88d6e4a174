"""The level in the report: before everything else if stacks are unequal, and in an appendix."""

from collections.abc import Sequence

from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.calibration.level.classes import SAMPLES_MIN
from eyelevel.calibration.level.text import (
    COMMAND,
    MEANING,
    NOT_THERE,
    WHAT,
    Entry,
    describe_measurement,
    format_unknown_sentence,
    groups,
    unequal_sentence,
    verdict,
    why,
)
from eyelevel.plan.browser import Browser
from eyelevel.plan.in_force import OF_BROWSER
from eyelevel.plan.origin_rtts import apart_by_ways_alone
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.variants import are_variants
from eyelevel.report.html import Markup, element, join, make_titled_section, table

Warning = tuple[str, str]

OPEN = ("unequal", "unknown")
"""The classes whose rows are open at once."""
ASPECTS_MAX = 6
"""The most aspects that one sentence names; a table has all."""
BY_WAYS_ALONE = (
    "differ only in the paths to their origins, so there is no level to measure between them"
)

ONE_STACK = "one stack loads all variants, so there is no level to measure between them"


def not_level(results: StudyResults) -> list[Warning]:
    """Warn of each pair that the report compares and that is unequal."""
    warnings = []
    for level in find_compared_levels(results):
        if sentence := unequal_sentence(level, ASPECTS_MAX):
            head = f"{level['first']} and {level['second']} are not level."
            text = (
                f"They differ in more than their protocols: {sentence}.{_describe_settings(level)} "
                "Part of a gain below may come from this; the appendix lists every aspect."
            )
            warnings.append((head, text))
    return warnings


def _describe_settings(level: JsonMapping) -> str:
    """Return a sentence on settings that make aspects unequal; empty if there are none."""
    names = {name for row in level["rows"] if row["word"] == "unequal" for name in row["settings"]}
    return f" Settings in which they differ: {', '.join(sorted(names))}." if names else ""


def warn_of_unmeasured(results: StudyResults) -> list[Warning]:
    """Warn of pairs that were not measured, and of aspects that remained unknown."""
    warnings = []
    for level in find_compared_levels(results):
        if sentence := format_unknown_sentence(level, ASPECTS_MAX):
            head = (
                f"It is not fully known whether {level['first']} and {level['second']} are level."
            )
            warnings.append((head, f"The intervals were too wide to tell for: {sentence}."))
    if missing := _missing(results):
        sentence = "; ".join(f"{one} and {two}" for one, two in missing)
        warnings.append(
            (f"{NOT_THERE}.", f"This concerns {sentence}. {_describe_measuring(results, missing)}.")
        )
    return warnings


def _describe_measuring(results: StudyResults, missing: Sequence[tuple[str, str]]) -> str:
    """Return how to measure the pairs.

    Stacks that are no presets, or with unusual browser settings, can only be measured by the plan.
    """
    pair, usual = missing[0], Browser()
    browsers = [results.plan.browser_of(name) for name in pair]
    if not all(browser.is_installed_chromium for browser in browsers):
        return "The level can be measured only with the installed Chromium, without switches"
    of_plan = not set(pair) <= STACKS_BY_NAME.keys()
    of_plan |= any(
        getattr(browser, name) != getattr(usual, name)
        for browser in browsers
        for name in OF_BROWSER
    )
    command = f"{COMMAND} --stacks {','.join(pair)}{' --plan PLAN' if of_plan else ''}"
    which = "first" if len(missing) > 1 else "pair"
    return f"To measure the {which}, run {command}. Runs that begin after that will have it"


def level_section(results: StudyResults) -> Markup:
    """Return every row of every measured pair; the important ones are open."""
    levels, missing = find_compared_levels(results), _missing(results)
    if results.comparisons and not find_compared_pairs(results):
        return make_titled_section(
            "level", "Appendix: the level", element("p", f"{ONE_STACK.capitalize()}.")
        )
    alike = [
        element("p", f"{one} and {two} {BY_WAYS_ALONE}.")
        for one, two in find_compared_pairs(results)
        if _differ_by_round_trips_alone(results, one, two)
    ]
    if not levels:
        text = f"{NOT_THERE}, with this build, kernel and browser, before the run began"
        nowhere = [element("p", f"{text}.")] if missing or not alike else []
        return make_titled_section("level", "Appendix: the level", *alike, *nowhere)
    parts = [element("p", MEANING, class_="note"), *alike]
    for level in levels:
        parts.append(element("h3", f"{level['first']} and {level['second']}"))
        parts += level_tables(level)
    return make_titled_section("level", "Appendix: the level", *parts)


def level_tables(level: JsonMapping) -> list[Markup]:
    """Return one pair: its verdict, how it was measured, and every row."""
    names = (level["first"], level["second"])
    return [
        element("p", verdict(level)),
        element("p", f"{describe_measurement(level)}.", class_="note"),
        *(_group(names, *group) for group in groups(level["rows"])),
    ]


def _group(names: tuple[str, str], kind: str, _: str, head: str, entries: list[Entry]) -> Markup:
    columns = ["aspect", "where", *names, f"{names[1]} minus {names[0]}", "margin", "why"]
    rows = [_row(entry) for entry in entries]
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    word, colon, rest = head.partition(":")
    head = f"{word.capitalize()}{colon}{rest}"
    if kind in OPEN:
        return table(head, columns, rows, class_="level")
    rows_table = table(f"{names[0]} and {names[1]}, {word.lower()}", columns, rows, class_="level")
    return element("details", element("summary", head), rows_table)


def _row(entry: Entry) -> list[object]:
    texts = entry.text
    what = element("small", WHAT.get(entry.row["aspect"], ""))
    values = (texts.with_unit(value) for value in (texts.first, texts.second))
    reason = why(entry.row, SAMPLES_MIN)
    return [
        join([entry.row["aspect"], what]),
        entry.where,
        *(element("span", value, class_="long") if entry.own_lines else value for value in values),
        texts.difference,
        texts.with_unit(texts.margin),
        element("span", reason, class_="long") if reason else "",
    ]


def level_json(results: StudyResults) -> JsonObject:
    """Return the levels as JSON."""
    return {"levels": list(find_compared_levels(results))}


def find_compared_levels(results: StudyResults) -> Sequence[JsonMapping]:
    """Return the levels in `environment.json` of pairs that the report compares."""
    compared = set(find_compared_pairs(results))
    measured = results.environment.get("levels") or []
    return [level for level in measured if (level["first"], level["second"]) in compared]


def find_compared_pairs(results: StudyResults) -> list[tuple[str, str]]:
    """Return the pairs that the report compares, references first; variants with one stack need no
    level."""
    return [
        (comparison.reference, comparison.stack)
        for comparison in results.comparisons
        if not are_variants(comparison)
    ]


def _missing(results: StudyResults) -> list[tuple[str, str]]:
    there = {
        (level["first"], level["second"])
        for level in find_compared_levels(results)
        if level["complete"]
    }
    return [
        pair
        for pair in find_compared_pairs(results)
        if pair not in there and not _differ_by_round_trips_alone(results, *pair)
    ]


def _differ_by_round_trips_alone(results: StudyResults, first: str, second: str) -> bool:
    """Return whether two stacks differ only in the round trips of their origins."""
    stacks = {stack.name: stack for stack in results.plan.stacks}
    return apart_by_ways_alone(stacks[first], stacks[second])
