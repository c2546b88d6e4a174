"""Rows of CSV, each of one line, so that a quote that is never closed ends with its line."""

import codecs
import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from eyelevel.from_outside.source import Source
from eyelevel.from_outside.words import excerpt

SEPARATORS = ";\t,"
"""Those that a row is searched for, in this order."""
_STATED = re.compile(r'"?sep=(.?)"?', re.IGNORECASE)
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class Table:
    """The rows of a table, the heading first, each with its place, which is its line's number.

    `separator` is empty for JSON, whose numbers have a point.
    """

    separator: str
    rows: list[tuple[str, list[str]]]


def utf8_of(content: bytes, source: Source) -> bytes:
    """Return a table's bytes as UTF-8 without a byte order mark, its lines with LF.

    Excel's "Unicode text" and PowerShell's `>` write UTF-16, the latter sometimes without a mark;
    no table in UTF-8 begins with a NUL or has one behind its first letter.
    """
    if content.startswith(_MARKS):
        encoding = "utf-16"
    elif content[:2].count(0) == 1:
        encoding = "utf-16-be" if content[0] == 0 else "utf-16-le"
    else:
        return _with_lf(content.removeprefix(codecs.BOM_UTF8))
    try:
        return _with_lf(content.decode(encoding).encode("utf-8"))
    except UnicodeError as error:
        fault = f"damaged, not whole UTF-16 ({excerpt(error)})"
        raise source.refusal(fault, "", "save the file as UTF-8") from error


def _with_lf(content: bytes) -> bytes:
    """Return the content with LF where its lines end in CR alone."""
    return content if b"\n" in content else content.replace(b"\r", b"\n")


def read_separator(line: str, number: int, source: Source) -> str | None:
    """Return the separator that a line such as Excel's `sep=;` states; None for any other line."""
    stated = _STATED.fullmatch(line.removeprefix("\ufeff").strip(" \r\n"))
    if stated is None:
        return None
    if stated[1] not in (*SEPARATORS, "|"):
        fault = f"`{excerpt(line)}` states a separator that is not known"
        raise source.refusal(fault, str(number), "use a comma, a semicolon, a tab or `|`")
    return stated[1]


def separator_of(line: str) -> str:
    """Return what separates the cells of a row: a semicolon, a tab or a comma."""
    return next((sign for sign in SEPARATORS if sign in line), ",")


def csv_rows(text: str, source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each line that is not empty and no `#` comment, with the line's number.

    The first such line says what separates them: semicolon, tab or comma, or Excel's `sep=`. Raises
    the source's error where a line is no CSV.
    """
    for number, cells, _ in _rows(text, source):
        yield number, cells


def read_table(text: str, source: Source) -> Table:
    """Read all rows of a small table. Raises the source's error as `csv_rows`."""
    found = list(_rows(text, source))
    return Table(found[0][2] if found else ",", [(str(line), cells) for line, cells, _ in found])


def refuse_long_rows(table: Table, source: Source) -> None:
    """Raise the source's error for a row with more cells than the heading has.

    A decimal comma without quotes makes two cells of one. Empty cells at the end are none.
    """
    width = len(table.rows[0][1]) if table.rows else 0
    for place, cells in table.rows[1:]:
        if any(cells[width:]):
            fault = f"{len(cells)} cells, and the heading has {width}"
            remedy = "write as many in each row, decimals with a point"
            raise source.refusal(fault, place, remedy)


def _rows(text: str, source: Source) -> Iterator[tuple[int, list[str], str]]:
    separator = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not separator:
            separator = read_separator(line, number, source) or ""
            if separator:
                continue
            separator = separator_of(line)
        yield number, csv_cells(line, separator, number, source), separator


def refuse_cr(line: str, number: int, source: Source) -> None:
    """Raise the source's error for a line with a CR in it, which ended lines once."""
    if "\r" in line:
        raise source.refusal("a line end of CR alone", str(number), "save it with LF or CR LF")


def csv_cells(line: str, separator: str, number: int, source: Source) -> list[str]:
    """Return the cells of one line. Raises the source's error where it is no CSV."""
    refuse_cr(line, number, source)
    try:
        cells = next(csv.reader([line], delimiter=separator))
    except (csv.Error, StopIteration) as error:
        fault = f"no row of a table ({error})" if str(error) else "no row of a table"
        raise source.refusal(fault, str(number), "quote its cells as CSV does") from error
    return [cell.strip() for cell in cells]
