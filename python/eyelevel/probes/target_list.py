"""Read lists of hosts to probe, and find those that a file of rows already has."""

from collections.abc import Callable
from pathlib import Path

from eyelevel.base.errors import ProbeError
from eyelevel.base.from_outside.files import lines_of
from eyelevel.base.from_outside.host_lists import LeftOut, read_hosts
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import DOCUMENT, LINE_BYTES_MAX, PROBES, TARGETS
from eyelevel.base.from_outside.source import Source
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.probes.targets import ProbeTargetName, target_of

Key = tuple[str, int, str]
"""Host, port and path of a target."""


def read_targets(path: Path, note: Callable[[str], None] = lambda _: None) -> list[ProbeTargetName]:
    """Read the targets of a list, each once and in order.

    `note` is called with the lines that are left out. Raises `ProbeError` if there is no target.
    """
    source, left_out = Source(str(path), TARGETS, ProbeError), LeftOut()
    hosts = read_hosts(path, source, left_out)
    found = list(dict.fromkeys(target_of(host) for _, host in hosts))
    if not found:
        raise left_out.refusal(source)
    left_out.report(note)
    return found


def list_row(count: int) -> JsonObject:
    """Return the row that precedes a list's rows."""
    return {"event": "list", "targets": count}


def target_row(key: Key) -> JsonObject:
    """Return the row that follows a target's last row."""
    return {"event": "target", "host": key[0], "port": key[1], "path": key[2]}


def key_of(row: JsonMapping) -> Key:
    """Return the key of a row, or of a target in a configuration."""
    return (row["host"], row["port"], row["path"])


def read_finished_targets(path: Path) -> set[Key]:
    """Return the targets of the file's last list whose rows are complete.

    Raises `ProbeError` if the file has no list, or naming a line that eyelevel did not write.
    """
    found: set[Key] | None = None
    for number, line in lines_of(path, Source(str(path), PROBES, ProbeError), LINE_BYTES_MAX):
        place = f"{path}, line {number}"
        row = parse_object(line.encode(), Source(place, DOCUMENT, ProbeError))
        if row.get("event") == "list":
            found = set()
        elif row.get("event") == "target" and found is not None:
            host, port, of_host = (row.get(name) for name in ("host", "port", "path"))
            if not (isinstance(host, str) and isinstance(port, int) and isinstance(of_host, str)):
                raise ProbeError(f"{place}: it names no target: drop the line")
            found.add((host, port, of_host))
    if found is None:
        raise ProbeError(f"{path} holds no list that was begun: leave out --resume")
    return found
