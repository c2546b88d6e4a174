"""Print: results to standard output, everything else to standard error.

Printed text may be untrusted: titles, URLs, headers, console lines, file names. So no string is
ever markup, and control characters are escaped.
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
"""Readable on light and dark terminals, unlike plain yellow."""

NO_BREAK = "\N{NO-BREAK SPACE}"
_HELD = "\N{SYMBOL FOR SPACE}"
"""Replaces a no-break space while Rich wraps lines: one cell wide, and not used in our texts."""


class Screen(Console):
    """A console that treats strings as text: no markup, no emoji codes, no control characters."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: object) -> Text:
        """Escape before measuring, so that columns are as wide as the escaped text.

        Rich would also break lines at no-break spaces, so another character replaces them
        meanwhile.
        """
        escaped = escape_control_characters(text).replace(NO_BREAK, _HELD)
        return super().render_str(escaped, **options)  # type: ignore[arg-type]

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render with control characters in text escaped; Rich's own control segments stay."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                escaped = escape_control_characters(segment.text).replace(_HELD, NO_BREAK)
                yield Segment(escaped, segment.style)

    def waiting(self, message: str) -> "Waiting":
        """Show a spinner with text while a block runs."""
        return Waiting(message, self)


class Waiting:
    """The text of a spinner; Rich's own would parse it as markup."""

    def __init__(self, message: str, screen: Screen) -> None:
        self._status = Status(Text(escape_control_characters(message)), console=screen)

    def __enter__(self) -> "Waiting":
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def update(self, message: str) -> None:
        """Replace the text."""
        self._status.update(Text(escape_control_characters(message)))


class LogLines:
    """Progress as log lines, at most one per `LOG_LINE_EVERY_S`, without a terminal."""

    def __init__(self, screen: Screen, clock: Callable[[], float] = time.monotonic) -> None:
        self._screen, self._clock = screen, clock
        self._last_line_s = clock()

    def tell(self, *parts: str, last: bool = False) -> None:
        """Log progress; empty parts are skipped, and with `last` the line is always printed."""
        now_s = self._clock()
        is_due = last or now_s - self._last_line_s >= LOG_LINE_EVERY_S
        if is_due and not self._screen.is_terminal:
            self._last_line_s = now_s
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
    """Print a value as JSON to standard output."""
    print(json_text(value, indent=2))


def json_text(value: object, indent: int | None = None) -> str:
    """Return JSON that is readable on a terminal, with control characters escaped."""
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
    """Return a plain table.

    Columns named in `right` are right-aligned numbers; those in `whole` are never cut, since their
    values differ only at the end.
    """
    fitting = _Fitting(
        title=title, title_justify="left", box=None, pad_edge=False, padding=(0, _GAP, 0, 0)
    )
    for column in columns:
        fitting.add_column(
            column,
            justify="right" if column in right else "left",
            overflow="fold" if column in whole else "ellipsis",
        )
    return fitting


_GAP = 2
_WORD_WIDTH_MAX = 20
"""Width above which a name may be cut in a narrow terminal; numbers never are."""


class _Fitting(Table):
    """A table that never breaks a number: if its columns do not fit, each row becomes a list."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render columns side by side if they fit, wrapped at spaces if necessary."""
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
    """Return a column's heading and its cells."""
    return [column.header, *column.cells]


def _text(console: Console, cell: RenderableType) -> str:
    text = cell if isinstance(cell, Text) else console.render_str(str(cell))
    return text.plain


def _least_width(cells: list[str]) -> int:
    """Return the minimum width of a column: its longest number, and most of its words."""
    words = [word for cell in cells for word in cell.split()]
    return max(map(_least_of_word, words), default=0)


def _least_of_word(word: str) -> int:
    is_name = any(map(str.isalpha, word))
    return min(cell_len(word), _WORD_WIDTH_MAX) if is_name else cell_len(word)
