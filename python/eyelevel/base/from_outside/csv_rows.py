"""Parse CSV with one row per line, so that an unclosed quote ends with its line."""

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eyelevel.base.from_outside.cell_numbers import is_written_number
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt

SEPARATORS = ";\t,"
"""Separators that are searched for in a row, in this order."""
_STATED = re.compile(r'"?sep=(.?)"?', re.IGNORECASE)
_UNIT_APART = re.compile(r"[ \t]+(?=[(\[])")
_HEADING_LENGTH_MAX = 4096
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class Table:
    """Rows of a table, the heading first, each with its place (line number).

    `separator` is "" for JSON, whose numbers have decimal points.
    """

    separator: str
    rows: list[tuple[str, list[str]]]


def utf8_of(content: bytes, source: Source) -> bytes:
    """Convert a table's bytes to UTF-8 without a byte order mark, with LF line ends.

    Excel's "Unicode text" and PowerShell's `>` write UTF-16, the latter sometimes without a mark; a
    table in UTF-8 has no NUL among its first two bytes.
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
    """Return the content with LF for CR if lines end with CR only."""
    return content if b"\n" in content else content.replace(b"\r", b"\n")


def read_separator(line: str, number: int, source: Source) -> str | None:
    """Return the separator that a line such as Excel's `sep=;` declares; None for other lines."""
    stated = _STATED.fullmatch(line.removeprefix("\ufeff").strip(" \r\n"))
    if stated is None:
        return None
    if stated[1] not in (*SEPARATORS, "|"):
        fault = f"`{excerpt(line)}` states a separator that is not known"
        raise source.refusal(fault, str(number), "use a comma, a semicolon, a tab or `|`")
    return stated[1]


def separator_of(line: str) -> str:
    """Return the separator of a row's cells: a semicolon, a tab or a comma."""
    return next((sign for sign in SEPARATORS if sign in line), ",")


def csv_rows(text: str, source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and cells of each line that is neither empty nor a `#` comment.

    The first such line determines the separator: semicolon, tab or comma, or Excel's `sep=`. If it
    has numbers, the comment above it may be the heading. Raises the source's error for a line that
    is not CSV.
    """
    for number, cells, _ in _rows(text, source):
        yield number, cells


def read_table(text: str, source: Source) -> Table:
    """Read all rows of a small table. Raises the source's error as `csv_rows` does.

    Spreadsheets write cleared rows and columns as empty ones, which are left out.
    """
    found = [row for row in _rows(text, source) if any(row[1])]
    rows = [(str(line), cells) for line, cells, _ in found]
    width = max((at for _, cells in rows for at, cell in enumerate(cells, 1) if cell), default=0)
    return Table(found[0][2] if found else ",", [(line, cells[:width]) for line, cells in rows])


def find_commented_heading(comment: str, cells: Sequence[str]) -> list[str]:
    """Return the heading that the comment above a first row with these cells holds; [] if none.

    numpy, gnuplot and R write headings so. Their names are separated as in tables or by blanks.
    """
    text = comment.lstrip("\ufeff").strip().lstrip("#").strip()
    if len(text) > _HEADING_LENGTH_MAX or "\r" in text or not any(map(is_written_number, cells)):
        return []
    ways = [next(csv.reader([text], delimiter=sign)) for sign in SEPARATORS if sign in text]
    ways += [re.split(r"[ \t]{2,}", text), _UNIT_APART.sub("", text).split()]
    found = next((way for way in ways if len(way) == len(cells) > 1), [])
    return [] if any(map(is_written_number, found)) else [name.strip() for name in found]


def find_comments_above(content: bytes) -> list[tuple[int, str]]:
    """Return the comments above the first row, each with its line number, the last one first."""
    number, found, start = 0, list[tuple[int, str]](), 0
    while start < len(content):
        end = content.find(b"\n", start)
        line = content[start : end if end >= 0 else len(content)].strip()
        number += 1
        if line and not line.startswith(b"#"):
            break
        if line:
            found.append((number, line.decode("utf-8", "replace")))
        start = end + 1 if end >= 0 else len(content)
    return found[::-1]


def refuse_long_rows(table: Table, source: Source) -> None:
    """Raise the source's error for a row with more cells than the heading.

    An unquoted decimal comma makes two cells of one. Empty cells at the end are ignored.
    """
    width = len(table.rows[0][1]) if table.rows else 0
    for place, cells in table.rows[1:]:
        if any(cells[width:]):
            fault = f"{len(cells)} cells, and the heading has {width}"
            remedy = "write as many in each row, decimals with a point"
            raise source.refusal(fault, place, remedy)


def _rows(text: str, source: Source) -> Iterator[tuple[int, list[str], str]]:
    separator, is_first = "", True
    comment = 0, ""
    # `splitlines` would also divide cells with a form feed or U+2028.
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if is_comment := line.lstrip().startswith("#"):
            comment = number, line
        if not line.strip() or is_comment:
            continue
        if not separator:
            separator = read_separator(line, number, source) or ""
            if separator:
                continue
            separator = separator_of(line)
        cells = csv_cells(line, separator, number, source)
        if is_first and (heading := find_commented_heading(comment[1], cells)):
            yield comment[0], heading, separator
        is_first = False
        yield number, cells, separator


def refuse_cr(line: str, number: int, source: Source) -> None:
    """Raise the source's error for a line that contains a CR, an obsolete line end."""
    if "\r" in line:
        raise source.refusal("a line end of CR alone", str(number), "save it with LF or CR LF")


def csv_cells(line: str, separator: str, number: int, source: Source) -> list[str]:
    """Parse the cells of one line. Raises the source's error if it is not CSV."""
    refuse_cr(line, number, source)
    try:
        cells = next(csv.reader([line], delimiter=separator))
    except (csv.Error, StopIteration) as error:
        fault = f"no row of a table ({error})" if str(error) else "no row of a table"
        raise source.refusal(fault, str(number), "quote its cells as CSV does") from error
    return [cell.strip() for cell in cells]
