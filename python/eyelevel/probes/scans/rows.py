"""Read the rows of a scan's file, and select hosts by their features."""

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv6Address
from pathlib import Path

from eyelevel.base.errors import ScanError
from eyelevel.base.from_outside.files import lines_of
from eyelevel.base.from_outside.host_names import NAME
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import DOCUMENT, LINE_BYTES_MAX, PROBES
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.probes.scans.names import HTTPS_PORT

PROTOCOLS = {"tls1.3": "tls13", "quic": "quic", "http2": "http2"}
"""Field of a row that each filter reads, by the filter's name."""


def read_rows(path: Path) -> Iterator[JsonObject]:
    """Yield the rows one at a time; a last line that was cut off is ignored.

    Raises `ScanError` naming a line that is not a row.
    """
    broken: ScanError | None = None
    for number, line in lines_of(path, Source(str(path), PROBES, ScanError), LINE_BYTES_MAX):
        if broken is not None:
            raise broken
        place = f"{path}, line {number}"
        try:
            row = parse_object(line.encode(), Source(place, DOCUMENT, ScanError))
        except ScanError:
            broken = ScanError(f"{place}: no row of a scan: choose another --out")
            continue
        if not isinstance(row.get("name"), str):
            raise ScanError(f"{place}: no row of a scan: choose another --out")
        yield row


def parse_wanted(text: str) -> list[str]:
    """Parse a comma-separated list of filters to fields of a row. Raises `ScanError`."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names or set(names) - PROTOCOLS.keys():
        known = ", ".join(PROTOCOLS)
        raise ScanError(f"--names-with {text}: choose among {known}, separated by commas")
    return [PROTOCOLS[name] for name in dict.fromkeys(names)]


def targets_with(rows: Iterable[JsonMapping], fields: Sequence[str], path: Path) -> dict[str, str]:
    """Return `HOST[:PORT]` by name, for rows in which all `fields` are true.

    The host is the one that was measured: the name, or `www.` and the name. An unknown field counts
    as false. Raises `ScanError` naming `path`, the rows' file, for an invalid host.
    """
    found = {}
    for row in rows:
        if all(row.get(field) is True for field in fields):
            found[row["name"]] = _target(path, row.get("host"), row.get("port"))
    return found


def _target(path: Path, host: object, port: object) -> str:
    text = host if isinstance(host, str) else ""
    if not NAME.fullmatch(text.lower()):
        try:
            text = f"[{IPv6Address(text)}]"
        except ValueError:
            fault = f"{path}: a row's host is not a name: `{excerpt(host)}`; drop the row"
            raise ScanError(fault) from None
    if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 65536:
        raise ScanError(f"{path}: a row's port is not a port: `{excerpt(port)}`; drop the row")
    return text if port == HTTPS_PORT else f"{text}:{port}"
