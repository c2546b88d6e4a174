"""Settings and measured values of stacks as text: differences before similarities.

Stacks with the same value share it, so that both three and twelve stacks fit a terminal.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from eyelevel.calibration.level.number_text import NOT_MEASURED
from eyelevel.calibration.level.stack_aspects import ExplainedRow
from eyelevel.calibration.level.text.level import GROUPS, INDENT, Line, hanging, prose
from eyelevel.calibration.level.text.verdict import Level, verdict

GAP = 2
WIDE = 110
"""The least terminal width at which a measured value and its aspect share a line."""
BETWEEN = "   "
WHERE = 18
"""The length of the longest scenario name."""


def format_stacks(
    names: Sequence[str], rows: Sequence[ExplainedRow], levels: Sequence[Level], width: int
) -> list[Line]:
    """Return the answers of `levels`, then the rows; those without measurements are left out."""
    lines = [Line(text, "bold") for level in levels for text in prose(verdict(level), width)]
    known = [row for row in rows if set(row.values) != {NOT_MEASURED}]
    for style, head, of_group in _groups(known):
        lines += [Line("")] if lines else []
        lines += [Line(text, f"bold {style}".strip()) for text in prose(head, width)]
        lines += _lines(names, of_group, width)
    return lines


def find_unmeasured(names: Sequence[str], rows: Sequence[ExplainedRow]) -> list[str]:
    """Return the stacks for which no aspect of the level was measured."""
    measured = [row.values for row in rows if row.kind == "measured" and row.scenario]
    return [
        name
        for column, name in enumerate(names)
        if all(values[column] == NOT_MEASURED for values in measured)
    ]


def _groups(rows: Sequence[ExplainedRow]) -> Iterator[tuple[str, str, list[ExplainedRow]]]:
    measured = [row for row in rows if row.kind == "measured"]
    groups = [
        ("red", "DIFFERENT SETTINGS", [row for row in rows if row.kind == "set" and row.differs]),
        ("green", "SAME SETTINGS", [row for row in rows if row.kind == "set" and not row.differs]),
    ]
    for word, style, head in GROUPS:
        groups.append((style, f"MEASURED, {head}", [r for r in measured if _worst(r) == word]))
    of_run = [row for row in measured if not row.scenario]
    groups.append(("", "MEASURED in the run's loads, medians", of_run))
    return (group for group in groups if group[2])


def _worst(row: ExplainedRow) -> str | None:
    """Return the most important of the findings about several pairs."""
    return next((word for word, _, _ in GROUPS if word in row.findings), None)


def _lines(names: Sequence[str], rows: Sequence[ExplainedRow], width: int) -> Iterator[Line]:
    labels = max(len(row.aspect) for row in rows)
    for aspect, group in groupby(rows, lambda row: row.aspect):
        label = f"{'':{INDENT}}{aspect:<{labels}}"
        merged = list(_merge(names, list(group)))
        if width < WIDE and merged[0][0]:
            yield Line(label.rstrip())
            label = f"{'':{INDENT}}"
        for where, said in merged:
            head = f"{label}{'':{GAP}}{where:<{WHERE}}" if where else label
            yield from _beside(head, said, width)


def _merge(
    names: Sequence[str], rows: Sequence[ExplainedRow]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield scenarios and values, merged if they are the same on networks of one kind."""

    def same(row: ExplainedRow) -> tuple[str, tuple[str, ...]]:
        return row.scenario.partition(" on ")[0], _values(names, row.values)

    for (_, said), group in groupby(rows, same):
        first, *others = [row.scenario for row in group]
        yield first + "".join(f", {other.partition(' on ')[2]}" for other in others), said


def _values(names: Sequence[str], values: Sequence[str]) -> tuple[str, ...]:
    """Return each distinct value after the names of its stacks; alone if all stacks have it."""
    if len(set(values)) == 1:
        return (values[0],)
    by_value: dict[str, list[str]] = {}
    for name, value in zip(names, values, strict=True):
        if value != NOT_MEASURED:
            by_value.setdefault(value, []).append(name)
    return tuple(f"{', '.join(stacks)}: {value}" for value, stacks in by_value.items())


def _beside(label: str, said: Sequence[str], width: int) -> Iterator[Line]:
    """Yield the texts to the right of a label: on its line if all fit, otherwise one per line."""
    indent = len(label) + GAP
    joined = BETWEEN.join(said)
    fits = indent + len(joined) <= width
    lines = [line for each in ([joined] if fits else said) for line in hanging(each, width, indent)]
    for at, line in enumerate(lines):
        yield Line(line if at else label + line[len(label) :])
