"""Which names a scan asks for, and which it leaves alone.

Lists are Tranco's and Alexa's CSV (`1,example.com`), or one name a line. Who does not want to be
asked is given by names, with everything below them, and by ranges of addresses.
"""

import ipaddress
import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from eyelevel.errors import ScanError
from eyelevel.from_outside.files import lines_of
from eyelevel.from_outside.limits import NAMES, OPT_OUT, WORD_LINE_BYTES_MAX
from eyelevel.from_outside.source import Source
from eyelevel.from_outside.words import quoted

_LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
NAME = re.compile(rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})*\.?", re.ASCII)
"""What can stand in DNS; addresses have the same form or colons. Each label ends at its dot, so
that a line that is no name is told in linear time."""


@dataclass(frozen=True)
class OptOut:
    """Names and ranges of addresses that a scan leaves alone."""

    names: frozenset[str] = frozenset()
    ranges: tuple[str, ...] = ()

    def covers(self, name: str) -> bool:
        """Whether the name or one above it is listed."""
        labels = name.split(".")
        return any(".".join(labels[start:]) in self.names for start in range(len(labels)))


def read_names(path: Path, top: int | None = None) -> Generator[str, None, None]:
    """The list's names in order, the first `top` of them, one at a time.

    Raises ScanError naming the line that is no name.
    """
    source = Source(str(path), NAMES, ScanError)
    lines = (line for _, line in lines_of(path, source, WORD_LINE_BYTES_MAX))
    yield from islice(parse_names(lines, str(path)), top)


def parse_names(lines: Iterable[str], source: str) -> Iterator[str]:
    """Names in lower case; empty lines and `#` comments are passed over. Raises ScanError."""
    for number, line in enumerate(lines, 1):
        text = line.strip().lower()
        if not text or text.startswith("#"):
            continue
        rank, comma, rest = text.partition(",")
        name = rest.strip() if comma and rank.strip().isdecimal() else text
        name = name.rstrip(".")
        if not name.isascii():
            name = _in_dns(name)
        if not (NAME.fullmatch(name) or ":" in name):
            raise ScanError(
                f"{source}, line {number}: `{quoted(line.strip())}` is not a name; correct the line"
            )
        yield name


def read_opt_out(path: Path) -> OptOut:
    """A file with a name, address or range a line. Raises ScanError."""
    source = Source(str(path), OPT_OUT, ScanError)
    return parse_opt_out(line for _, line in lines_of(path, source, WORD_LINE_BYTES_MAX))


def parse_opt_out(lines: Iterable[str]) -> OptOut:
    """Read names and ranges; `example.com` and `*.example.com` stand for all below it too."""
    names, ranges = set(), []
    for line in lines:
        text = line.partition("#")[0].strip().lower()
        if not text:
            continue
        try:
            ranges.append(str(ipaddress.ip_network(text, strict=False)))
        except ValueError:
            names.add(text.removeprefix("*.").rstrip("."))
    return OptOut(frozenset(names), tuple(ranges))


def _in_dns(name: str) -> str:
    try:
        return name.encode("idna").decode()
    except UnicodeError:
        return ""
