"""Where the command writes: results to standard output, everything else to standard error."""

import json

from rich.console import Console
from rich.table import Table

results = Console(highlight=False, soft_wrap=False)
hints = Console(stderr=True, highlight=False)


def complain(message: str) -> None:
    """One error; a message of several lines keeps them.

    It may name what a stranger wrote: what would steer the terminal is spelled out.
    """
    shown = "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in message)
    hints.print(f"eyelevel: {shown}", style="red", markup=False, soft_wrap=True)


def print_json(value: object) -> None:
    """A result for machines."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def table(*columns: str, title: str | None = None, right: tuple[str, ...] = ()) -> Table:
    """A plain table; the columns named in `right` hold numbers."""
    shown = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        shown.add_column(column, justify="right" if column in right else "left")
    return shown
