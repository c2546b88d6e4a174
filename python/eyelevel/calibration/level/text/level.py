"""A measured level as lines of text: the answer first, then rows by their meaning.

A row has a line. If the terminal is wide enough the line begins with its aspect; otherwise the
aspect is above its rows, so that no cell is broken.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import wrap

from eyelevel.calibration.level.aspects import ASPECTS
from eyelevel.calibration.level.classes import SAMPLES_MIN
from eyelevel.calibration.level.text.row import Row, RowText, absent, effect, format_row, why
from eyelevel.calibration.level.text.verdict import Level, describe_measurement, verdict

WIDTH_MIN = 60
CELL_CHARACTERS_MAX = 16
"""The widest value of a column; wider ones, such as the priorities of all kinds, have their own
lines."""
GAP = 2
INDENT = 2
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
    said: RowText

    @property
    def title(self) -> str:
        """The aspect, with the unit if its name has none."""
        unit, name = self.said.unit, self.row["aspect"]
        return name if not unit or unit in name else f"{name}, {unit}"

    @property
    def own_lines(self) -> bool:
        """Whether a value is too long for a column."""
        return max(len(self.said.first), len(self.said.second)) > CELL_CHARACTERS_MAX


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
        return row["aspect"], kind, format_row(row), why(row, SAMPLES_MIN)

    entries = []
    for _, group in groupby(rows, same):
        alike = list(group)
        where = alike[0]["scenario"]
        where += "".join(f", {row['scenario'].partition(' on ')[2]}" for row in alike[1:])
        entries.append(Entry(alike[0], where, format_row(alike[0])))
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
            lines += [Line(text) for text in hanging(title, self._prose, 0)]
        for entry in entries:
            lines.append(Line(self._join(self._cells(entry))))
            if entry.own_lines:
                lines += [Line(text) for text in self._values(entry.said)]
            if not self._shape.margin:
                texts.append(f"margin {entry.said.with_unit(entry.said.margin)}")
            texts.append(why(entry.row, SAMPLES_MIN))
        if moved := effect(first.row):
            texts.append(f"switched alone it moves {moved}")
        for text in dict.fromkeys(text for text in texts if text):
            lines += [Line(t, "dim") for t in hanging(text, self._prose, 2 * INDENT)]
        return lines

    def _values(self, said: RowText) -> list[str]:
        """Return the lines of long values, each distinct one once."""
        named = dict(zip(self._names, (said.first, said.second), strict=True))
        if said.first == said.second:
            named = {"both": said.first}
        texts = (f"{name}: {value}" for name, value in named.items())
        return [line for text in texts for line in hanging(text, self._prose, 2 * INDENT)]

    def _cells(self, entry: Entry) -> tuple[str, ...]:
        phrases = entry.said
        if self._shape.aspect:
            label = f"{entry.title:<{self._title}}{' ' * GAP}{entry.where}"
        else:
            label = " " * INDENT + entry.where
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


def hanging(text: str, width: int, indent: int, more: int = INDENT) -> list[str]:
    """Wrap text with an indent, all lines except the first with `more`."""
    return wrap(
        text,
        width,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + more),
        break_on_hyphens=False,
    )
