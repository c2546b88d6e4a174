"""Choose the names that a scan queries.

Lists are read like those of `probe` (`eyelevel.base.from_outside.host_lists`); a scan uses only
their names. Opt-outs are names, with everything below them, and ranges of addresses.
"""

import ipaddress
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

from eyelevel.base.errors import ScanError
from eyelevel.base.from_outside.files import lines_of
from eyelevel.base.from_outside.host_lists import LeftOut, parse_host, read_hosts
from eyelevel.base.from_outside.limits import NAMES, OPT_OUT, WORD_LINE_BYTES_MAX
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt

HTTPS_PORT = 443


@dataclass(frozen=True)
class OptOut:
    """Names and address ranges that a scan must not query."""

    names: frozenset[str] = frozenset()
    ranges: tuple[str, ...] = ()

    def covers(self, name: str) -> bool:
        """Return whether the name or one of its parent domains is listed."""
        labels = name.split(".")
        return any(".".join(labels[start:]) in self.names for start in range(len(labels)))


def read_names(
    path: Path,
    top: int | None = None,
    port: int = HTTPS_PORT,
    left_out: LeftOut | None = None,
) -> Generator[str, None, None]:
    """Yield the list's names in order, each once, only the first `top` of them.

    `left_out` collects lines without a name, or with another port than the scan's.
    """
    source = Source(str(path), NAMES, ScanError)
    left_out = left_out or LeftOut()
    seen: set[str] = set()
    for number, host in read_hosts(path, source, left_out):
        if host.port not in (None, port):
            fault = f"`{excerpt(host.name)}` has port {host.port}, and a scan asks all at {port}"
            remedy = "drop the port, or scan such names by --port"
            left_out.take(source.refusal(fault, str(number), remedy))
        elif host.name not in seen:
            seen.add(host.name)
            yield host.name
            if len(seen) == top:
                return


def count_names(path: Path, top: int | None, port: int, note: Callable[[str], None]) -> int:
    """Return how many names the list has; `note` is called with the lines that are left out.

    Raises `ScanError` if it has none.
    """
    left_out = LeftOut()
    if not (count := sum(1 for _ in read_names(path, top, port, left_out))):
        raise left_out.refusal(Source(str(path), NAMES, ScanError))
    left_out.report(note)
    return count


def read_opt_out(path: Path) -> OptOut:
    """Read a file with one name, address or range per line; `#` begins a comment.

    `example.com` and `*.example.com` include all names below it. Raises `ScanError` naming an
    invalid line: if it were ignored, its hosts would be queried.
    """
    source = Source(str(path), OPT_OUT, ScanError)
    names, ranges = set(), []
    for number, line in lines_of(path, source, WORD_LINE_BYTES_MAX):
        text = line.lstrip("\ufeff").partition("#")[0].strip()
        if not text:
            continue
        name = text
        if not (found := _range_of(text)):
            try:
                name = parse_host(text.removeprefix("*.")).name
            except ValueError as error:
                fault = f"`{excerpt(text)}` is no name, address or range ({excerpt(error)})"
                remedy = "write it as example.com or 192.0.2.0/24"
                raise source.refusal(fault, str(number), remedy) from error
            found = _range_of(name)
        if found:
            ranges.append(found)
        else:
            names.add(name)
    return OptOut(frozenset(names), tuple(ranges))


def _range_of(text: str) -> str:
    """Return an address or range as a range; "" for anything else."""
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        return ""
