"""Lists of names: Tranco's and Alexa's CSV (`1,example.com`), or one name a line."""

import re
from collections.abc import Generator, Iterable, Iterator
from itertools import islice
from pathlib import Path

from eyelevel.errors import ScanError

NAME = re.compile(r"(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.?)+", re.ASCII)
"""What can stand in DNS; addresses have the same form or colons."""


def read_names(path: Path, top: int | None = None) -> Generator[str, None, None]:
    """The list's names in order, the first `top` of them, one at a time.

    Raises ScanError naming the line that is no name.
    """
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            yield from islice(parse_names(stream, str(path)), top)
    except OSError as error:
        raise ScanError(f"cannot read {path}: {error.strerror}") from error


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
            raise ScanError(f"{source}, line {number}: {line.strip()[:80]!r} is no name")
        yield name


def _in_dns(name: str) -> str:
    try:
        return name.encode("idna").decode()
    except UnicodeError:
        return ""
