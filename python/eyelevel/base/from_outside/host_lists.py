"""Read lists of hosts to probe or scan, of pages to record, and of opt-outs.

A line is `HOST[:PORT][/PATH]`, a URL, or a row of a published list: Tranco's, Alexa's and
Umbrella's have a rank before the name, CrUX's after it, and others a heading that names the column.
A line without a host is left out and counted, so that one bad line in a million does not refuse the
list.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from urllib.parse import quote

from eyelevel.base.errors import ExpectedError
from eyelevel.base.from_outside.csv_rows import SEPARATORS, csv_cells, read_separator, refuse_cr
from eyelevel.base.from_outside.files import lines_of
from eyelevel.base.from_outside.host_names import NAME, name_in_dns
from eyelevel.base.from_outside.limits import WORD_LINE_BYTES_MAX
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt

COLUMNS = (
    *("domain", "root domain", "origin", "hostname", "host", "fqdn", "domain name", "host name"),
    *("url", "website url", "name", "site", "website", "page", "ip", "ip address", "saddr"),
    *("domains", "hosts", "urls", "websites", "all domains", "top pages", "landing page"),
    *("server", "address"),
)
"""Headings of a column of hosts; the first one in this order that a list has counts. `saddr` is
ZMap's, `top pages` the Search Console's. An underscore or a hyphen may stand for a blank.
"""
_ALONE = ("domain", "origin", "hostname", "url", "fqdn", "saddr")
"""Words that are a heading even without a second column. A host may be called `site`, so the
other words count alone only if the next line has a dot or a colon.
"""
_OF_URLS = ("url", "website url", "page", "urls", "top pages", "landing page")
_PORTS = ("port", "port number", "sport")
"""Headings of a column of ports; `sport` is ZMap's."""
SHOWN = 3
"""Number of left-out lines that are quoted."""

_BEGIN_CHARACTERS = 4
"""A byte order mark, and the first letter with its NUL."""

_COMMENT = re.compile(r"#.*", re.DOTALL)
_COMMENT_AFTER_BLANK = re.compile(r"(?:^|(?<=\s))#.*", re.DOTALL)
"""A comment in a list of URLs, which may have fragments."""
_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_WITHOUT_PORT = re.compile(r"\[[^\]]*\]|[^][/?:]+")
_PORT = re.compile(r"(.*):(\d{1,5})", re.DOTALL)
_RANK = re.compile(r"\d[\d.]*", re.ASCII)
_RANK_BEFORE = re.compile(r"\d+(?:\.0*)?", re.ASCII)
"""A rank before a host, which is no address; pandas writes a column with gaps as `1.0`."""
_VALUE = re.compile(r"[.:]\w|://|^[\d\W]+$")
"""A part of a host, a URL or a number, by which a cell is not the name of a column."""
_JSON = re.compile(r"\s*(?:\{|\[\s*(?:[\"{]|$))")
"""The beginning of JSON; an IPv6 address may begin with a bracket, too."""
_RANGE = re.compile(r"/\d{1,3}", re.ASCII)


@dataclass(frozen=True)
class Host:
    """A host name or address in normal form, with its port and path."""

    name: str
    """Name in lower case without a final dot, or an address; IPv6 without brackets."""
    port: int | None
    path: str
    """Path with a leading slash; `/` if none was given."""


@dataclass
class LeftOut:
    """Counts the lines of a list without a host, and keeps the first ones' faults."""

    count: int = 0
    first: list[Exception] = field(default_factory=list)
    ambiguous: Exception | None = None
    """The first row whose number is taken for a rank and may be a port; None if none."""

    def take(self, fault: Exception) -> None:
        """Count a line."""
        self.count += 1
        if len(self.first) < SHOWN:
            self.first.append(fault)

    def report(self, note: Callable[[str], None]) -> None:
        """Report the count and the first lines, if there are any."""
        if self.count:
            lines = "1 line is" if self.count == 1 else f"{self.count:,} lines are"
            which = "" if self.count <= SHOWN else f", the first {SHOWN} of them"
            note(f"{lines} left out{which}:")
        for fault in (*self.first, *filter(None, [self.ambiguous])):
            note(str(fault))

    def refusal(self, source: Source) -> Exception:
        """Return the error for a list without a host."""
        remedy = "write one HOST[:PORT][/PATH] per line"
        return self.first[0] if self.first else source.refusal("it names no host", "", remedy)


def parse_host(text: str) -> Host:
    """Parse `HOST[:PORT][/PATH]`, optionally after `https://` or `http://`.

    Raises `ValueError` with the reason.
    """
    if "\ufffd" in text:
        raise ValueError("not UTF-8; save the file as UTF-8")
    scheme = _SCHEME.match(text)
    rest = text[scheme.end() :] if scheme else text
    end = re.search(r"[/?]", rest)
    authority, path = (rest[: end.start()], rest[end.start() :]) if end else (rest, "/")
    if any(c.isspace() or ord(c) < 32 for c in rest):
        raise ValueError("a blank or a control character is in it")
    name, port = _name_and_port(authority)
    if scheme is None and _RANGE.fullmatch(path) and _is_address(name):
        raise ValueError("a range of addresses; write each of them, or its URL")
    path = "".join(c if c.isascii() else quote(c) for c in path)
    return Host(name, port, path if path.startswith("/") else f"/{path}")


def read_hosts(path: Path, source: Source, left_out: LeftOut) -> Iterator[tuple[int, Host]]:
    """Yield the line number and host of each line, including repeated hosts.

    Raises the source's error if the file cannot be read.
    """
    for number, text, columns in read_host_rows(path, source):
        try:
            host = parse_host(columns.host_in(text, number, source).strip())
            left_out.ambiguous = columns.ambiguous
            yield number, host
        except ExpectedError as error:
            left_out.take(error)
        except ValueError as error:
            fault = f"`{excerpt(text)}` is not a HOST[:PORT][/PATH] ({excerpt(error)})"
            left_out.take(source.refusal(fault, str(number), "correct the line, or drop it"))


def read_host_rows(
    path: Path, source: Source, *, with_urls: bool = False
) -> Iterator[tuple[int, str, "HostColumns"]]:
    """Yield the number and text of each line, without heading and comments, and its columns.

    `with_urls` if whole URLs are wanted, of which a column counts first. Raises the source's error
    if the file cannot be read.
    """
    columns: HostColumns | None = None
    comment = _COMMENT_AFTER_BLANK if with_urls else _COMMENT
    held: tuple[int, str] | None = None
    for number, line in lines_of(path, source, WORD_LINE_BYTES_MAX):
        # A tab at the end of a line is kept: it separates an empty cell.
        text = comment.sub("", line.lstrip("\ufeff"), count=1).strip(" ")
        if not text.strip():
            continue
        if columns is None:
            if "\0" in text[:_BEGIN_CHARACTERS]:
                raise source.refusal("it is in UTF-16", "", "save the file as UTF-8")
            if _JSON.match(text):
                raise source.refusal("it is JSON", "", "write one HOST[:PORT][/PATH] per line")
            stated = read_separator(text, number, source)
            names = sorted(COLUMNS, key=lambda name: name not in _OF_URLS) if with_urls else COLUMNS
            columns = HostColumns(stated or SEPARATORS, names)
            if stated:
                continue
        if columns.take_heading(text, number, source):
            continue
        if columns.is_first_row() and _normalise_heading(text.strip('" ')) in COLUMNS:
            held = number, text
            continue
        if held is not None and not re.search(r"[.:]", text):
            yield *held, columns
        held = None
        yield number, text, columns


class HostColumns:
    """Finds the column of a list's hosts: after a rank, before it, or under a heading."""

    def __init__(self, separators: str, names: Sequence[str]) -> None:
        self._separators = separators
        self._names = names
        self._is_new = True
        self._at: int | None = None
        self._port_at: int | None = None
        self._rows = 0
        self._ranked = 0
        self.ambiguous: Exception | None = None
        """The first row whose number is taken for a rank and may be a port; None if none."""

    def is_first_row(self) -> bool:
        """Count a row; returns whether it is the first one without a heading."""
        self._rows += 1
        return self._rows == 1 and self._at is None

    def take_heading(self, text: str, number: int, source: Source) -> bool:
        """Return whether the list's first line is a heading.

        If so, use its column for all lines.
        """
        is_first, self._is_new = self._is_new, False
        # A line with a CR is not a heading: it is left out like a row, and the others are read.
        for separator in self._separators if is_first and "\r" not in text else "":
            cells = [
                _normalise_heading(cell) for cell in csv_cells(text, separator, number, source)
            ]
            known = self._names if len(cells) > 1 or " " in cells[0] else _ALONE
            named = next((name for name in known if name in cells), None)
            if named is not None and not any(_RANK.fullmatch(cell) for cell in cells):
                self._separators, self._at = separator, cells.index(named)
                self._port_at = next((cells.index(port) for port in _PORTS if port in cells), None)
                return True
            names = [cell for cell in cells if cell]
            if len(names) > 1 and not any(map(_VALUE.search, names)):
                fault = f"no column of hosts is known in the heading `{excerpt(text)}`"
                raise source.refusal(fault, str(number), f"name it one of {', '.join(COLUMNS)}")
        return False

    def host_in(self, text: str, number: int, source: Source) -> str:
        """Return the cell with the host, or the line itself if it is not a row of a table.

        Raises `ValueError` for a column of ports with something else.
        """
        refuse_cr(text, number, source)
        for separator in self._separators:
            if separator not in text and not self._at:
                continue
            cells = csv_cells(text, separator, number, source)
            if self._at is not None:
                return self._with_port(cells)
            first, *others = cells
            if others and _RANK_BEFORE.fullmatch(first):
                if len(others) == 2:
                    self._note_possible_port(others[0], others[1], number, source)
                hosts = (cell for cell in others if not _RANK_BEFORE.fullmatch(cell))
                return next(hosts, others[0])
            # A comma may be part of a path; an origin has none.
            is_origin = re.fullmatch(r"[^/]*/?", _SCHEME.sub("", first))
            if is_origin and all(_RANK.fullmatch(cell) for cell in others if cell):
                self._ranked += 1
                if others and others[0] != str(self._ranked):
                    self._note_possible_port(first, others[0], number, source)
                return first
        return csv_cells(text, ",", number, source)[0] if text.startswith('"') else text

    def _note_possible_port(self, host: str, rank: str, number: int, source: Source) -> None:
        """Keep the first row whose rank may be a port: a URL would include it."""
        meant = host if _RANK_BEFORE.fullmatch(host) else _append_port(host, rank)
        if self.ambiguous is None and meant != host and rank.isdecimal() and 0 < int(rank) < 65536:
            fault = f"`{excerpt(rank)}` beside `{excerpt(host)}` is taken for a rank"
            remedy = f"write {excerpt(meant)} if it is a port"
            self.ambiguous = source.refusal(fault, str(number), remedy)

    def _with_port(self, cells: Sequence[str]) -> str:
        """Return a row's host, with the port's cell appended; a URL includes its port."""
        host, port = (
            cells[at] if at is not None and at < len(cells) else ""
            for at in (self._at, self._port_at)
        )
        port = port.removesuffix(".0")  # pandas writes a column with gaps so
        if port and not port.isdecimal():
            raise ValueError(f"`{excerpt(port)}` is not a port")
        return _append_port(host, port) if port else host


def _append_port(host: str, port: str) -> str:
    """Return a host with this port, unless it has a port or is a URL."""
    if _WITHOUT_PORT.fullmatch(host):
        return f"{host}:{port}"
    return f"[{host}]:{port}" if "/" not in host and _is_address(host) else host


def _normalise_heading(cell: str) -> str:
    return re.sub(r"[ _-]+", " ", cell.lower())


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _name_and_port(authority: str) -> tuple[str, int | None]:
    if "%" in authority and ":" in authority:
        raise ValueError("an address with a zone, which only one machine knows")
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
    if not NAME.fullmatch(name) or name.endswith("."):
        raise ValueError("no such name can stand in DNS")
    if name.rpartition(".")[2].isdecimal():
        # Like browsers: a name that ends in a number must be an IPv4 address.
        return str(IPv4Address(name)), port
    return name, port
