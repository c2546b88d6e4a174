"""Write output: results to standard output, everything else to standard error.

What it prints may hold what strangers wrote: titles, URLs, headers, console lines, names of files.
So every string is text and never markup, and what would steer the terminal is spelled out.
"""

import json
import time
from collections.abc import Callable, Iterable

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.status import Status
from rich.table import Column, Table
from rich.text import Text

from eyelevel.base.from_outside.words import (
    escape_control_characters,
    escape_control_characters_in_json,
)

LOG_LINE_EVERY_S = 30.0

WARNING_STYLE = "black on yellow"
"""A terminal's yellow alone is hardly readable on a light ground."""

NO_BREAK = "\N{NO-BREAK SPACE}"
_HELD = "\N{SYMBOL FOR SPACE}"
"""The stand-in for a no-break space while Rich wraps lines: one cell wide, in none of our texts."""


class Screen(Console):
    """A console on which strings are text: no markup, no emoji codes, nothing that steers it."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: object) -> Text:
        """Spelled out before it is measured, so that columns are as wide as what they show.

        Rich breaks lines at no-break spaces, too: until it has, another character holds their
        places.
        """
        shown = escape_control_characters(text).replace(NO_BREAK, _HELD)
        return super().render_str(shown, **options)  # type: ignore[arg-type]

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render with control characters in text escaped; Rich's own control segments stay."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                shown = escape_control_characters(segment.text).replace(_HELD, NO_BREAK)
                yield Segment(shown, segment.style)

    def waiting(self, said: str) -> "Waiting":
        """Show a spinner with text while a block runs."""
        return Waiting(said, self)


class Waiting:
    """The text of a spinner; Rich's own takes words for markup."""

    def __init__(self, said: str, screen: Screen) -> None:
        self._status = Status(Text(escape_control_characters(said)), console=screen)

    def __enter__(self) -> "Waiting":
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def update(self, said: str) -> None:
        """Other words."""
        self._status.update(Text(escape_control_characters(said)))


class LogLines:
    """A bar that moves needs a terminal: elsewhere a line at most every `LOG_LINE_EVERY_S`."""

    def __init__(self, screen: Screen, clock: Callable[[], float] = time.monotonic) -> None:
        self._screen, self._clock = screen, clock
        self._said_s = clock()

    def tell(self, *parts: str, last: bool = False) -> None:
        """Log progress; empty parts are skipped, and with `last` the line is always printed."""
        now_s = self._clock()
        is_due = last or now_s - self._said_s >= LOG_LINE_EVERY_S
        if is_due and not self._screen.is_terminal:
            self._said_s = now_s
            say(self._screen, ", ".join(part for part in parts if part))


results = Screen()
hints = Screen(stderr=True)


def say(screen: Screen, text: str) -> None:
    """Print one line, with control characters escaped."""
    screen.print(escape_control_characters(text, keep=""), soft_wrap=True)


def complain(message: str) -> None:
    """Print one error; a message of several lines keeps them."""
    hints.print(f"eyelevel: {message}", style="red", soft_wrap=True)


def print_json(value: object) -> None:
    """A result for machines."""
    print(json_text(value, indent=2))


def json_text(value: object, indent: int | None = None) -> str:
    """Return JSON that reads well on a terminal and steers it nowhere: what would is escaped."""
    return escape_control_characters_in_json(json.dumps(value, ensure_ascii=False, indent=indent))


def colour(text: str, style: str) -> Text:
    """Return a cell in a colour."""
    return Text(escape_control_characters(text), style)


def table(
    *columns: str,
    title: str | None = None,
    right: tuple[str, ...] = (),
    whole: tuple[str, ...] = (),
) -> Table:
    """Return a plain table; the columns named in `right` hold numbers, and those in `whole` what
    differs in its end alone, so that nothing is cut from it."""
    shown = _Fitting(
        title=title, title_justify="left", box=None, pad_edge=False, padding=(0, _GAP, 0, 0)
    )
    for column in columns:
        shown.add_column(
            column,
            justify="right" if column in right else "left",
            overflow="fold" if column in whole else "ellipsis",
        )
    return shown


_GAP = 2
_WORD_WIDTH_MAX = 20
"""A name that is longer may be cut in a narrow terminal; a number never is."""


class _Fitting(Table):
    """A table that never breaks a number: where its columns do not fit, each row is a list."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render columns side by side if they fit, narrowed at blanks if they must be."""
        room = options.max_width - _GAP * (len(self.columns) - 1)
        cells = [[_text(console, cell) for cell in _cells_of(each)] for each in self.columns]
        natural = [max(map(cell_len, each)) for each in cells]
        if sum(natural) > room:
            widths = [
                full if column.no_wrap else _least_width(each)
                for column, each, full in zip(self.columns, cells, natural, strict=True)
            ]
            if sum(widths) > room:
                yield from self._lists(cells)
                return
            for place, column in enumerate(self.columns):
                widths[place] += min(natural[place] - widths[place], room - sum(widths))
                column.width = widths[place]
        yield from super().__rich_console__(console, options)

    def _lists(self, cells: list[list[str]]) -> RenderResult:
        if self.title:
            yield Text(str(self.title), "italic")
        (_, *names), *others = cells
        for row, name in enumerate(names, 1):
            yield Text(name, "bold")
            for heading, *column in others:
                if column[row - 1]:
                    yield Text(
                        f"  {heading} {column[row - 1]}" if heading else f"  {column[row - 1]}"
                    )


def _cells_of(column: Column) -> list[RenderableType]:
    """Return the heading, then what stands below it."""
    return [column.header, *column.cells]


def _text(console: Console, cell: RenderableType) -> str:
    text = cell if isinstance(cell, Text) else console.render_str(str(cell))
    return text.plain


def _least_width(cells: list[str]) -> int:
    """Return the least width of a column: that of its longest number, and of most of its words."""
    words = [word for cell in cells for word in cell.split()]
    return max(map(_least_of_word, words), default=0)


def _least_of_word(word: str) -> int:
    is_name = any(map(str.isalpha, word))
    return min(cell_len(word), _WORD_WIDTH_MAX) if is_name else cell_len(word)
