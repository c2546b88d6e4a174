"""Rows of CSV, each of one line, so that a quote that is never closed ends with its line."""

import csv
from collections.abc import Iterator

from eyelevel.from_outside.source import Source


def csv_rows(text: str, source: Source) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line that is not empty and no `#` comment, with the line's number.

    The first such line says what separates them: semicolon, tab or comma. Raises the source's error
    where a line is no CSV.
    """
    separator = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        separator = separator or next((sign for sign in ";\t" if sign in line), ",")
        try:
            cells = next(csv.reader([line], delimiter=separator))
        except (csv.Error, StopIteration) as error:
            fault = f"no row of a table ({error})" if str(error) else "no row of a table"
            raise source.refusal(fault, str(number), "quote its cells as CSV does") from error
        yield number, [cell.strip() for cell in cells]
