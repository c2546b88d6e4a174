"""Lists of hosts: one reader for whatever is probed, scanned or left alone.

A line is `HOST[:PORT][/PATH]`, a URL, or a row of a published list: Tranco's, Alexa's and
Umbrella's have a rank before the name, CrUX's behind it, and others a heading that names the
column.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from urllib.parse import quote

from eyelevel.from_outside.csv_rows import SEPARATORS, csv_cells, stated_separator
from eyelevel.from_outside.files import lines_of
from eyelevel.from_outside.host_names import NAME, name_in_dns
from eyelevel.from_outside.limits import WORD_LINE_BYTES_MAX
from eyelevel.from_outside.source import Source
from eyelevel.from_outside.words import quoted

COLUMNS = ("domain", "root domain", "origin", "hostname", "host", "url", "name", "site", "website")
"""Headings of the column that has the hosts, the first of them that a list has."""
_ALONE = ("domain", "origin", "hostname", "url")
"""Those that are headings without a second column; a machine may be called `site`."""

_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_PORT = re.compile(r"(.*):(\d{1,5})", re.DOTALL)
_RANK = re.compile(r"\d[\d.]*", re.ASCII)


@dataclass(frozen=True)
class Host:
    """A name in DNS or an address, in its one spelling, with what was written behind it."""

    name: str
    """Lower case, without a dot at its end; an IPv6 address has no brackets."""
    port: int | None
    path: str
    """Begins with a slash; `/` where none was written."""


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


def read_hosts(path: Path, source: Source) -> Iterator[tuple[int, Host]]:
    """Read each host of a file with its line's number, one at a time and repeated ones again.

    Raises the source's error naming the line that has none.
    """
    return hosts_of(lines_of(path, source, WORD_LINE_BYTES_MAX), source)


def hosts_of(lines: Iterable[tuple[int, str]], source: Source) -> Iterator[tuple[int, Host]]:
    """Return each host of a list's lines; `#` begins a comment."""
    columns: _Columns | None = None
    for number, line in lines:
        # A tab at an end has an empty cell beside it.
        text = line.lstrip("\ufeff").partition("#")[0].strip(" ")
        if not text.strip():
            continue
        if columns is None:
            stated = stated_separator(text, number, source)
            columns = _Columns(stated or SEPARATORS)
            if stated:
                continue
        if columns.take_heading(text, number, source):
            continue
        word = columns.host_in(text, number, source)
        try:
            yield number, parse_host(word.strip())
        except ValueError as error:
            fault = f"`{quoted(text)}` is not a HOST[:PORT][/PATH] ({quoted(error)})"
            raise source.refusal(fault, str(number), "correct the line, or drop it") from error


class _Columns:
    """Where the rows of one list have their host: behind a rank, before it, or under a heading."""

    def __init__(self, separators: str) -> None:
        self._separators = separators
        self._is_new = True
        self._at: int | None = None

    def take_heading(self, text: str, number: int, source: Source) -> bool:
        """Whether the list's first line is a heading, whose column then holds for all lines."""
        is_first, self._is_new = self._is_new, False
        for separator in self._separators if is_first else "":
            cells = [cell.lower() for cell in csv_cells(text, separator, number, source)]
            known = COLUMNS if len(cells) > 1 else _ALONE
            named = next((name for name in known if name in cells), None)
            if named is not None and not any(_RANK.fullmatch(cell) for cell in cells):
                self._separators, self._at = separator, cells.index(named)
                return True
        return False

    def host_in(self, text: str, number: int, source: Source) -> str:
        """Return the cell with the host, or the whole line where it is none of a table."""
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
