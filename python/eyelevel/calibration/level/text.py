"""A measured level as text: the answer first, then rows by their meaning; pure.

A level and its rows are dictionaries, as in `levels` of `environment.json` and in `--json`. A row
has a line. If the terminal is wide enough the line begins with its aspect; otherwise the aspect is
above its rows, so that no cell is broken. The numbers of a row have the same number of digits, so
that their differences can be checked by eye; `--json` has all digits.

In the table of stacks' settings and values, stacks with the same value share it, so that both three
and twelve stacks fit a terminal.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import wrap

from eyelevel.base.json_types import JsonMapping
from eyelevel.calibration.level.aspects import ASPECTS
from eyelevel.calibration.level.classes import CLASS_NAMES, SAMPLES_MIN, Class, Value
from eyelevel.calibration.level.rows import ExplainedRow
from eyelevel.calibration.level.value_text import (
    NOT_MEASURED,
    digits_of,
    format_number,
    format_unit,
)

Row = JsonMapping

NOTHING = "\N{EN DASH}"
_INTERVAL = ("value", "low", "high")


@dataclass(frozen=True)
class RowText:
    """The texts of a row, without units; `unit` has the unit. `difference` includes its
    interval."""

    first: str
    second: str
    difference: str
    margin: str
    unit: str

    def with_unit(self, number: str) -> str:
        """Return a number with its unit; any other text stays as it is."""
        return f"{number} {self.unit}" if self.unit and number[-1:].isdigit() else number


def _format_row(row: Row) -> RowText:
    """Return both values, their difference and the margin."""
    unit = row["unit"]
    named = isinstance(row["first"], str) or isinstance(row["second"], str)
    numbers = [row["first"], row["second"], *(row["difference"][key] for key in _INTERVAL)]
    digits = 0 if named else digits_of(numbers, unit)
    margin = format_number(row["margin"], unit, digits_of([row["margin"]], unit))
    return RowText(
        _value(row["first"], unit, digits),
        _value(row["second"], unit, digits),
        _labels(row) if named else _interval(row, digits),
        "exact" if row["margin"] == 0 else f"±{margin}",
        format_unit(unit),
    )


def absent(row: Row) -> bool:
    """Return whether a stack lacks the aspect, such as priorities with HTTP/1.1.

    Also true if there were runs and none reported it.
    """
    if row["word"] == "absent":
        return True
    return bool(min(row["runs"])) and None in (row["first"], row["second"])


def why(row: Row, runs_min: int) -> str:
    """Return the reason for a row's class; empty if there is none.

    It is the expected range, the settings that differ, or why the class is unknown.
    """
    if row["because"]:
        return f"{'' if absent(row) else _format_allowed(row)}{row['because']}"
    reasons = []
    if row["word"] in ("unequal", "unknown"):
        reasons += [allowed] if (allowed := _format_allowed(row).removesuffix(": ")) else []
        if row["settings"]:
            reasons.append("settings apart: " + ", ".join(row["settings"]))
    if row["difference"]["value"] is None:
        reasons.append("nothing of the kind there" if absent(row) else _runs(row, runs_min))
    return "; ".join(reasons)


def effect(row: Row) -> str:
    """Return the effect of the aspect if it alone is switched; empty if that was not measured."""
    effects = []
    for name, moved in (row.get("effect_ms") or {}).items():
        value, low, high = (format_number(moved[key], "ms", 0, signed=True) for key in _INTERVAL)
        effects.append(f"{name} {value} ms ({low} to {high})")
    return "; ".join(effects)


def _value(value: Value | None, unit: str, digits: int) -> str:
    if value is None:
        return NOTHING
    return value if isinstance(value, str) else format_number(value, unit, digits)


def _labels(row: Row) -> str:
    if row["difference"]["value"] is None:
        return NOTHING
    low, high = row["difference"]["low"], row["difference"]["high"]
    return "the same" if high == 0 else "another" if low else "not always the same"


def _interval(row: Row, digits: int) -> str:
    if row["difference"]["value"] is None:
        return NOTHING
    value, low, high = (
        format_number(row["difference"][key], row["unit"], digits, signed=True) for key in _INTERVAL
    )
    return value if low == high == value else f"{value} ({low} to {high})"


def _format_allowed(row: Row) -> str:
    """Return the allowed range if it is not just the margin, which is shown anyway."""
    low, high = row.get("allowed_low"), row.get("allowed_high")
    if low is None or high is None or (low, high) == (-row["margin"], row["margin"]):
        return ""
    digits = digits_of([low, high], row["unit"])
    limits = [format_number(limit, row["unit"], digits, signed=True) for limit in (low, high)]
    unit = format_unit(row["unit"])
    return f"allowed {limits[0]} to {limits[1]}{' ' if unit else ''}{unit}: "


def _runs(row: Row, runs_min: int) -> str:
    return f"runs: {row['runs'][0]} and {row['runs'][1]} of {runs_min} at least"


COMMAND = "eyelevel validate level"
NOT_THERE = "Level: not measured on this machine"
WORDS = {
    "equal": "the whole 95 % interval of the difference lies within the margin",
    "inherent, the browser's": "caused by an RFC or by a setting of the browser, and within the "
    "bound that is expected of it",
    "unequal": "beyond the margin, or beyond that bound",
    "unknown": "the interval is too wide to tell",
    "not there": "one of the two stacks has no such aspect",
}
"""The meaning of each class of a level."""
MEANING = " ".join(f"{word}: {meaning}." for word, meaning in WORDS.items())

NAMED_MAX = 6
"""The most aspects in one sentence."""
REST: tuple[Class, ...] = ("equal", "inherent", "browser")
"""The classes whose aspects are counted and not named."""
BINARY_CHARACTERS = 8
VALUES_CHARACTERS_MAX = 40
"""The longest values in a sentence; longer ones, such as the priorities of all kinds, are in tables
only."""

Level = JsonMapping


def unequal_sentence(level: Level, aspects_max: int) -> str:
    """Return a phrase with a pair's unequal aspects and both values; empty if there are none."""
    return _sentence(level, "unequal", aspects_max)


def format_unknown_sentence(level: Level, aspects_max: int) -> str:
    """Return a phrase with a pair's unknown aspects that have both values; empty without any."""
    return _sentence(level, "unknown", aspects_max)


def _sentence(level: Level, word: str, aspects_max: int) -> str:
    named: dict[str, list[str]] = {}
    for row in level["rows"]:
        if row["word"] == word and row["difference"]["value"] is not None:
            row_text = _format_row(row)
            values = f" {row_text.first} and {row_text.with_unit(row_text.second)}"
            if len(values) > VALUES_CHARACTERS_MAX:
                values = ""
            named.setdefault(row["aspect"], []).append(f"{row['scenario']}{values}")
    phrases = [f"{aspect} ({'; '.join(places)})" for aspect, places in named.items()]
    if len(phrases) > aspects_max:
        phrases = [*phrases[:aspects_max], f"{len(phrases) - aspects_max} more"]
    return ", ".join(phrases)


def verdict(level: Level) -> str:
    """Return whether a pair is level, in one sentence with the rows of each class.

    Unequal and unknown aspects are named.
    """
    pair = f"{level['first']} and {level['second']}"
    there = [row for row in level["rows"] if not absent(row)]
    by_word = {word: [row for row in there if row["word"] == word] for word in CLASS_NAMES}
    parts = [_count(by_word["unequal"], "unequal"), _count(by_word["unknown"], "unknown")]
    parts += [f"{len(by_word[word])} {CLASS_NAMES[word]}" for word in REST if by_word[word]]
    if missing := len(level["rows"]) - len(there):
        parts.append(f"{missing} of something that a stack does not have")
    counts = f"of {len(level['rows'])} rows {', '.join(parts)}"
    if by_word["unequal"]:
        return f"{pair} are not level: {counts}."
    if by_word["unknown"]:
        return f"Whether {pair} are level is not known: {counts}."
    return f"{pair} are level: {counts}."


def _count(rows: Sequence[Row], word: str) -> str:
    """Return the number of rows of a class, with their aspects."""
    if not rows:
        return f"none {word}"
    names = list(dict.fromkeys(row["aspect"] for row in rows))
    if len(names) > NAMED_MAX:
        names = [*names[:NAMED_MAX], f"{len(names) - NAMED_MAX} more"]
    return f"{len(rows)} {word} ({', '.join(names)})"


def describe_measurement(level: Level) -> str:
    """Return the build, browser and runs of a measurement."""
    build = f"eyelevel {level['eyelevel']} (binary {level['binary'][:BINARY_CHARACTERS]})"
    browser = level["browser"] or "no browser"
    runs: dict[str, Sequence[int]] = {row["scenario"]: row["runs"] for row in level["rows"]}
    browsers = " and ".join(
        f"{sum(run[side] for run in runs.values())} of {level[name]}"
        for side, name in enumerate(("first", "second"))
    )
    return (
        f"Measured on this machine, runs: {browsers}. Linux {level['kernel']}, {build}, {browser}"
    )


WIDTH_MIN = 60
CELL_CHARACTERS_MAX = 16
"""The widest value of a column; wider ones, such as the priorities of all kinds, have their own
lines."""
GAP = 2
_INDENT = 2
PROSE_MAX = 110
"""The longest line of prose; longer ones are hard to read."""
OWN_LINES = "as below"

GROUPS: tuple[tuple[str, str, str], ...] = (
    ("unequal", "red", "UNEQUAL: beyond what is allowed"),
    (
        "unknown",
        "black on yellow",
        "UNKNOWN: too few runs or too wide an interval to tell, never equal",
    ),
    ("absent", "black on yellow", "NOTHING TO COMPARE: a stack has none"),
    ("equal", "green", "EQUAL: the 95 % interval of the difference lies within the margin"),
    (
        "inherent",
        "magenta",
        "INHERENT: the protocols' own by an RFC, within what is allowed for it",
    ),
    (
        "browser",
        "magenta",
        "THE BROWSER'S: by its setting or its way, within what is allowed for it",
    ),
)
"""The groups of rows: the class (or absent), a colour, a heading; the most important first."""


@dataclass(frozen=True)
class _Shape:
    """A layout. `aspect`: it begins the line, else it is above; `margin`: it has a column."""

    aspect: bool
    gap: int
    margin: bool = True


SHAPES = (_Shape(True, GAP), _Shape(False, GAP), _Shape(False, 1), _Shape(False, 1, margin=False))
"""The layouts, widest first; the last one is for terminals below 80 columns."""

WHAT = {aspect.name: aspect.what for aspect in ASPECTS}


@dataclass(frozen=True)
class Line:
    """A line with its style for rich."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Entry:
    """Rows of one aspect with the same text, on networks of one kind."""

    row: Row
    where: str
    text: RowText

    @property
    def title(self) -> str:
        """The aspect, with the unit if its name has none."""
        unit, name = self.text.unit, self.row["aspect"]
        return name if not unit or unit in name else f"{name}, {unit}"

    @property
    def own_lines(self) -> bool:
        """Whether a value is too long for a column."""
        return max(len(self.text.first), len(self.text.second)) > CELL_CHARACTERS_MAX


def level_lines(level: Level, width: int) -> list[Line]:
    """Return a level in lines of at most `width` characters."""
    width = max(width, WIDTH_MIN)
    kinds = list(groups(level["rows"]))
    every = [entry for *_, entries in kinds for entry in entries]
    names = (level["first"], level["second"])
    table = _Table(every, names, width)
    lines = [Line(text, "bold") for text in prose(verdict(level), width)]
    lines += [Line(text) for text in prose(f"{describe_measurement(level)}.", width)]
    lines += [Line(text) for text in prose(LEGEND.format(*names[::-1]), width)]
    for _, style, head, entries in kinds:
        lines += [Line(""), *(Line(text, f"bold {style}") for text in prose(head, width))]
        lines += table.lines(entries)
    return lines


LEGEND = (
    "The difference is {} less {}, with its 95 % interval where runs differ; the margin is what is "
    "too little to matter. All digits: --json. What each row is: docs/reference/level.md."
)


def groups(rows: Sequence[Row]) -> Iterator[tuple[str, str, str, list[Entry]]]:
    """Yield those of `GROUPS` that have rows, with their number."""
    for kind, style, head in GROUPS:
        of_kind = [row for row in rows if ("absent" if absent(row) else row["word"]) == kind]
        if of_kind:
            yield (
                kind,
                style,
                f"{head} ({len(of_kind)} row{'s' if len(of_kind) > 1 else ''})",
                _merge(of_kind),
            )


def _merge(rows: Sequence[Row]) -> list[Entry]:
    def same(row: Row) -> tuple[object, ...]:
        kind = row["scenario"].partition(" on ")[0]
        return row["aspect"], kind, _format_row(row), why(row, SAMPLES_MIN)

    entries = []
    for _, group in groupby(rows, same):
        alike = list(group)
        where = alike[0]["scenario"]
        where += "".join(f", {row['scenario'].partition(' on ')[2]}" for row in alike[1:])
        entries.append(Entry(alike[0], where, _format_row(alike[0])))
    return entries


class _Table:
    """Columns as wide as all entries need, in the first layout that fits the terminal."""

    def __init__(self, entries: Sequence[Entry], names: tuple[str, str], width: int) -> None:
        self._prose = min(width, PROSE_MAX)
        self._names = names
        self._title = max((len(entry.title) for entry in entries), default=0)
        for self._shape in SHAPES:
            rows = [self._head, *(self._cells(entry) for entry in entries)]
            self._sizes = [max(map(len, column)) for column in zip(*rows, strict=True)]
            if sum(self._sizes) + self._shape.gap * (len(self._sizes) - 1) <= width:
                break

    @property
    def _head(self) -> tuple[str, ...]:
        names = ("", *self._names, "difference")
        return (*names, "margin") if self._shape.margin else names

    def lines(self, entries: Sequence[Entry]) -> list[Line]:
        """Return the lines of one group, with the columns' names."""
        lines = [Line(self._join(self._head), "dim")]
        for _, group in groupby(entries, lambda entry: entry.row["aspect"]):
            of_aspect = list(group)
            lines += self._aspect(of_aspect)
        return lines

    def _aspect(self, entries: Sequence[Entry]) -> list[Line]:
        first = entries[0]
        what = WHAT.get(first.row["aspect"], "")
        headline = what if first.row["word"] in ("unequal", "unknown") else ""
        lines: list[Line] = []
        texts: list[str] = []
        if self._shape.aspect:
            texts.append(headline)
        else:
            title = f"{first.title}: {headline}" if headline else first.title
            lines += [Line(text) for text in _hanging(title, self._prose, 0)]
        for entry in entries:
            lines.append(Line(self._join(self._cells(entry))))
            if entry.own_lines:
                lines += [Line(text) for text in self._values(entry.text)]
            if not self._shape.margin:
                texts.append(f"margin {entry.text.with_unit(entry.text.margin)}")
            texts.append(why(entry.row, SAMPLES_MIN))
        if moved := effect(first.row):
            texts.append(f"switched alone it moves {moved}")
        for text in dict.fromkeys(text for text in texts if text):
            lines += [Line(t, "dim") for t in _hanging(text, self._prose, 2 * _INDENT)]
        return lines

    def _values(self, row_text: RowText) -> list[str]:
        """Return the lines of long values, each distinct one once."""
        named = dict(zip(self._names, (row_text.first, row_text.second), strict=True))
        if row_text.first == row_text.second:
            named = {"both": row_text.first}
        texts = (f"{name}: {value}" for name, value in named.items())
        return [line for text in texts for line in _hanging(text, self._prose, 2 * _INDENT)]

    def _cells(self, entry: Entry) -> tuple[str, ...]:
        phrases = entry.text
        if self._shape.aspect:
            label = f"{entry.title:<{self._title}}{' ' * GAP}{entry.where}"
        else:
            label = " " * _INDENT + entry.where
        values = (OWN_LINES, OWN_LINES) if entry.own_lines else (phrases.first, phrases.second)
        cells = (label, *values, phrases.difference)
        return (*cells, phrases.margin) if self._shape.margin else cells

    def _join(self, cells: Sequence[str]) -> str:
        """Return a line with both values right-aligned, and all other cells left-aligned."""
        padded = [
            f"{cell:>{size}}" if column in (1, 2) else f"{cell:<{size}}"
            for column, (cell, size) in enumerate(zip(cells, self._sizes, strict=True))
        ]
        return (" " * self._shape.gap).join(padded).rstrip()


def prose(text: str, width: int) -> list[str]:
    """Wrap sentences at a legible width."""
    return wrap(text, min(width, PROSE_MAX), break_on_hyphens=False)


def _hanging(text: str, width: int, indent: int, more: int = _INDENT) -> list[str]:
    """Wrap text with an indent, all lines except the first with `more`."""
    return wrap(
        text,
        width,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + more),
        break_on_hyphens=False,
    )


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
        label = f"{'':{_INDENT}}{aspect:<{labels}}"
        merged = list(_merge_stacks(names, list(group)))
        if width < WIDE and merged[0][0]:
            yield Line(label.rstrip())
            label = f"{'':{_INDENT}}"
        for where, row_text in merged:
            head = f"{label}{'':{GAP}}{where:<{WHERE}}" if where else label
            yield from _lines_beside(head, row_text, width)


def _merge_stacks(
    names: Sequence[str], rows: Sequence[ExplainedRow]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield scenarios and values, merged if they are the same on networks of one kind."""

    def same(row: ExplainedRow) -> tuple[str, tuple[str, ...]]:
        return row.scenario.partition(" on ")[0], _values(names, row.values)

    for (_, row_text), group in groupby(rows, same):
        first, *others = [row.scenario for row in group]
        yield first + "".join(f", {other.partition(' on ')[2]}" for other in others), row_text


def _values(names: Sequence[str], values: Sequence[str]) -> tuple[str, ...]:
    """Return each distinct value after the names of its stacks; alone if all stacks have it."""
    if len(set(values)) == 1:
        return (values[0],)
    by_value: dict[str, list[str]] = {}
    for name, value in zip(names, values, strict=True):
        if value != NOT_MEASURED:
            by_value.setdefault(value, []).append(name)
    return tuple(f"{', '.join(stacks)}: {value}" for value, stacks in by_value.items())


def _lines_beside(label: str, parts: Sequence[str], width: int) -> Iterator[Line]:
    """Yield the texts to the right of a label: on its line if all fit, otherwise one per line."""
    indent = len(label) + GAP
    joined = BETWEEN.join(parts)
    fits = indent + len(joined) <= width
    lines = [
        line for each in ([joined] if fits else parts) for line in _hanging(each, width, indent)
    ]
    for at, line in enumerate(lines):
        yield Line(line if at else label + line[len(label) :])
