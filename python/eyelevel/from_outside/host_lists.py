"""Lists of hosts: one reader for whatever is probed, scanned or left alone.

A line is `HOST[:PORT][/PATH]`, a URL, or a row of a published list: Tranco's, Alexa's and
Umbrella's have a rank before the name, CrUX's behind it, and others a heading that names the
column. A line without a host is left out and counted, so that one in a million refuses no list.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from urllib.parse import quote

from eyelevel.errors import ExpectedError
from eyelevel.from_outside.csv_rows import SEPARATORS, csv_cells, read_separator, refuse_cr
from eyelevel.from_outside.files import lines_of
from eyelevel.from_outside.host_names import NAME, name_in_dns
from eyelevel.from_outside.limits import WORD_LINE_BYTES_MAX
from eyelevel.from_outside.source import Source
from eyelevel.from_outside.words import excerpt

COLUMNS = (
    *("domain", "root domain", "origin", "hostname", "host", "url", "name", "site", "website"),
    "page",
)
"""Headings of the column of hosts; the first one in this order that a list has decides."""
_ALONE = ("domain", "origin", "hostname", "url")
"""Words that are a heading also without a second column. A host may be called `site`, so the other
headings count alone only if the next line has a dot or a colon."""
SHOWN = 3
"""The number of left-out lines that are quoted."""

_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_PORT = re.compile(r"(.*):(\d{1,5})", re.DOTALL)
_RANK = re.compile(r"\d[\d.]*", re.ASCII)


@dataclass(frozen=True)
class Host:
    """A name in DNS or an address, in its one spelling, with what was written behind it."""

    name: str
    """The name in lower case without its last dot, or an address; IPv6 has no brackets."""
    port: int | None
    path: str
    """The path, which begins with a slash; `/` where none was written."""


@dataclass
class LeftOut:
    """The lines of a list that have no host: how many, and what is wrong with the first."""

    count: int = 0
    first: list[Exception] = field(default_factory=list)

    def take(self, fault: Exception) -> None:
        """Count a line."""
        self.count += 1
        if len(self.first) < SHOWN:
            self.first.append(fault)

    def report(self, note: Callable[[str], None]) -> None:
        """Note the count and the first lines, where there are any."""
        if self.count:
            lines = "1 line is" if self.count == 1 else f"{self.count:,} lines are"
            shown = "" if self.count <= SHOWN else f", the first {SHOWN} of them"
            note(f"{lines} left out{shown}:")
        for fault in self.first:
            note(str(fault))

    def refusal(self, source: Source) -> Exception:
        """Return the error of a list without a host."""
        remedy = "write one HOST[:PORT][/PATH] per line"
        return self.first[0] if self.first else source.refusal("it names no host", "", remedy)


def parse_host(text: str) -> Host:
    """Read `HOST[:PORT][/PATH]`; `https://` or `http://` may stand before it.

    Raises ValueError with the reason.
    """
    scheme = _SCHEME.match(text)
    rest = text[scheme.end() :] if scheme else text
    end = re.search(r"[/?]", rest)
    authority, path = (rest[: end.start()], rest[end.start() :]) if end else (rest, "/")
    if any(c.isspace() or ord(c) < 32 for c in rest):
        raise ValueError("a blank or a control character is in it")
    name, port = _name_and_port(authority)
    path = "".join(c if c.isascii() else quote(c) for c in path)
    return Host(name, port, path if path.startswith("/") else f"/{path}")


def read_hosts(path: Path, source: Source, left_out: LeftOut) -> Iterator[tuple[int, Host]]:
    """Read each host of a file with its line's number, one at a time and repeated ones again.

    Raises the source's error where the file cannot be read.
    """
    for number, text, columns in _rows(lines_of(path, source, WORD_LINE_BYTES_MAX), source):
        try:
            word = columns.host_in(text, number, source)
        except ExpectedError as error:
            left_out.take(error)
            continue
        try:
            yield number, parse_host(word.strip())
        except ValueError as error:
            fault = f"`{excerpt(text)}` is not a HOST[:PORT][/PATH] ({excerpt(error)})"
            left_out.take(source.refusal(fault, str(number), "correct the line, or drop it"))


def _rows(
    lines: Iterable[tuple[int, str]], source: Source
) -> Iterator[tuple[int, str, "_Columns"]]:
    """Yield a list's lines without its heading and comments, which `#` begins."""
    columns: _Columns | None = None
    held: tuple[int, str] | None = None
    for number, line in lines:
        # A tab at an end has an empty cell beside it.
        text = line.lstrip("\ufeff").partition("#")[0].strip(" ")
        if not text.strip():
            continue
        if columns is None:
            stated = read_separator(text, number, source)
            columns = _Columns(stated or SEPARATORS)
            if stated:
                continue
        if columns.take_heading(text, number, source):
            continue
        if columns.is_first_row() and text.strip('" ').lower() in COLUMNS:
            held = number, text
            continue
        if held is not None and not re.search(r"[.:]", text):
            yield *held, columns
        held = None
        yield number, text, columns


class _Columns:
    """The column of a list's hosts: after a rank, before it, or under a heading."""

    def __init__(self, separators: str) -> None:
        self._separators = separators
        self._is_new = True
        self._at: int | None = None
        self._rows = 0

    def is_first_row(self) -> bool:
        """Count a row, and return whether it is the first."""
        self._rows += 1
        return self._rows == 1 and self._at is None

    def take_heading(self, text: str, number: int, source: Source) -> bool:
        """Return whether the list's first line is a heading, whose column then holds for all
        lines."""
        is_first, self._is_new = self._is_new, False
        # A line with a CR is no heading: it is left out as a row, and the others are read.
        for separator in self._separators if is_first and "\r" not in text else "":
            cells = [cell.lower() for cell in csv_cells(text, separator, number, source)]
            known = COLUMNS if len(cells) > 1 else _ALONE
            named = next((name for name in known if name in cells), None)
            if named is not None and not any(_RANK.fullmatch(cell) for cell in cells):
                self._separators, self._at = separator, cells.index(named)
                return True
        return False

    def host_in(self, text: str, number: int, source: Source) -> str:
        """Return the cell with the host, or the whole line where it is none of a table."""
        refuse_cr(text, number, source)
        for separator in self._separators:
            if separator not in text and not (self._at or text.startswith('"')):
                continue
            cells = csv_cells(text, separator, number, source)
            if self._at is not None:
                return cells[self._at] if self._at < len(cells) else ""
            first, *others = cells
            if others and first.isascii() and first.isdecimal():
                return others[0]
            # A comma in a path is the path's own; an origin has none.
            is_origin = re.fullmatch(r"[^/]*/?", _SCHEME.sub("", first))
            if is_origin and all(_RANK.fullmatch(cell) for cell in others if cell):
                return first
        return text


def _name_and_port(authority: str) -> tuple[str, int | None]:
    try:
        return str(IPv6Address(authority)), None
    except ValueError:
        pass
    match = _PORT.fullmatch(authority)
    text, port = (match[1], int(match[2])) if match else (authority, None)
    if port is not None and not 0 < port < 65536:
        raise ValueError(f"{port} is not a port")
    if text.startswith("["):
        if not text.endswith("]"):
            raise ValueError("an address has no closing bracket")
        return str(IPv6Address(text[1:-1])), port
    name = name_in_dns(text).removesuffix(".")
    if not NAME.fullmatch(name):
        raise ValueError("no such name can stand in DNS")
    if name.rpartition(".")[2].isdecimal():
        # As browsers do: what ends in a number is an address, or nothing.
        return str(IPv4Address(name)), port
    return name, port
