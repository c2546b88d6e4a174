"""Parse columns of numbers with numpy, a hundred megabytes in seconds, piece by piece.

numpy only reports that a piece is invalid. Its lines are then checked one by one, so that the
message has the line number.
"""

import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt

_PIECE = 4 << 20
_NEWLINE = 10
_BLANKS = b" \t\r\v\f,;"
"""The bytes of lines without a value: empty ones, and rows of empty cells as spreadsheets have them
below a table."""
_BLANK_LINE = re.compile(rb"\n[ \t,;]+(?:\n|\Z)")
_REMEDY = "write a number in each row, or leave the row out"
_DATE = re.compile(
    rb"\d{4}\D\d\d?\D\d|\d+:\d\d|\d\d?[./-](?:\d\d?|[A-Za-z]{3})[./-]\d\d(?:\d\d)?(?![\d.])"
)
_TIME_REMEDY = "write times as numbers, such as seconds since the first row"


def lines_without_ends(content: bytes) -> bytes:
    """Return the content with LF line ends, without the last one."""
    plain = content.replace(b"\r\n", b"\n") if b"\r" in content else content
    return plain.removesuffix(b"\n")


def numbers(text: bytes, separator: str, dtype: type) -> "NDArray[np.generic]":
    """Parse all numbers in `text`; returns fewer if one is invalid.

    An integer beyond 64 bits becomes the largest one.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            found: NDArray[np.generic] = np.fromstring(text.decode("latin-1"), dtype, sep=separator)
        except (ValueError, DeprecationWarning):
            return np.empty(0, dtype)
    return found


def first_line(text: bytes, is_right: Callable[[bytes], bool]) -> int:
    """Return the index of the first line for which `is_right` is False; -1 if there is none."""
    found = (number for number, line in enumerate(text.split(b"\n")) if not is_right(line))
    return next(found, -1)


def keep_lines(content: bytes) -> tuple[bytes, Callable[[int], int]]:
    """Return the non-empty, non-comment lines, and a function from row to line number."""
    body = lines_without_ends(content)
    has_blank = b"\n\n" in body or _BLANK_LINE.search(body) or body.startswith(b"\n")
    if b"#" not in body and not has_blank:
        return body, lambda row: row + 1
    lines = [
        (number, line)
        for number, line in enumerate(body.split(b"\n"), start=1)
        if line.strip(_BLANKS) and not line.lstrip().startswith(b"#")
    ]
    at = [number for number, _ in lines]
    return b"\n".join(line for _, line in lines), lambda row: at[row]


def number_columns(
    rows: bytes, columns: Sequence[int], separator: str, line: Callable[[int], int], source: Source
) -> list[NDArray[np.float64]]:
    """Return these columns of `rows`, each of which must have as many cells as the first.

    Quotes are dropped; `line` returns a row's line number. Raises the source's error with that line
    for a row of another length or a cell that is not a finite number.
    """
    width = rows.partition(b"\n")[0].count(separator.encode()) + 1
    found: list[NDArray[np.float64]] = []
    done = 0
    for piece in pieces_of_lines(rows):
        plain = piece.translate(None, b'"')
        found.append(_of_piece(plain, columns, separator, width, done, line, source))
        done += len(found[-1])
    return [
        np.concatenate([piece[:, at] for piece in found]) if found else np.empty(0)
        for at in range(len(columns))
    ]


def pieces_of_lines(text: bytes) -> Iterator[bytes]:
    """Yield pieces of `text` that end at line boundaries, some megabytes each."""
    start = 0
    while start < len(text):
        end = text.find(b"\n", start + _PIECE)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def _of_piece(
    piece: bytes,
    columns: Sequence[int],
    separator: str,
    width: int,
    done: int,
    line: Callable[[int], int],
    source: Source,
) -> NDArray[np.float64]:
    """Parse a piece to an array with one row per line and one column for each of `columns`."""
    sign = separator.encode()
    content = np.frombuffer(piece + b"\n", np.uint8)
    ends = np.flatnonzero((content == _NEWLINE) | (content == sign[0]))
    newlines = np.flatnonzero(content[ends] == _NEWLINE)
    if len(ends) != width * len(newlines) or (newlines % width != width - 1).any():
        row = first_line(piece, lambda text: text.count(sign) == width - 1)
        cells = piece.split(b"\n")[row].count(sign) + 1
        fault = f"{cells} cells, and the first row has {width}"
        raise source.refusal(fault, str(line(done + row)), "write as many in each row")
    used = sorted(columns)
    text = piece
    if len(used) < width:
        cells_end = ends.reshape(-1, width)
        cells_start = np.concatenate(([0], ends[:-1] + 1)).reshape(-1, width)
        # +1 at a wanted cell's start and -1 after its end: the running sum is 1 inside.
        step = np.zeros(len(content) + 1, np.int8)
        for column in used:
            step[cells_start[:, column]] += 1
            step[cells_end[:, column] + 1] -= 1
        text = content[np.cumsum(step[:-1], dtype=np.int8).astype(bool)].tobytes()[:-1]
    text = text.replace(b"\n", sign)
    # numpy treats a tab like any space, so cells could be shifted unnoticed.
    with_commas = b"," if sign != b"," and b"," in text else text.replace(sign, b",")
    values = numbers(with_commas, ",", float).astype(np.float64, copy=False)
    if len(values) != len(used) * len(newlines) or not np.isfinite(values).all():
        cells_text = text.split(sign)
        at = next((at for at, cell in enumerate(cells_text) if not is_number(cell)), 0)
        fault = f"`{excerpt(cells_text[at].decode('utf-8', 'replace'))[:40]}` is not a number"
        remedy = _TIME_REMEDY if _DATE.match(cells_text[at].strip()) else _REMEDY
        raise source.refusal(fault, str(line(done + at // len(used))), remedy)
    return values.reshape(-1, len(used))[:, [used.index(column) for column in columns]]


def is_number(cell: bytes) -> bool:
    """Return whether a cell is a finite number."""
    try:
        return math.isfinite(float(cell)) and b"_" not in cell
    except ValueError:
        return False
