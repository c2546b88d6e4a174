"""Lists of hosts to probe, and which of them a file of rows has already."""

from pathlib import Path

from eyelevel.errors import ProbeError
from eyelevel.from_outside.files import lines_of
from eyelevel.from_outside.json_text import parse_object
from eyelevel.from_outside.limits import (
    DOCUMENT,
    LINE_BYTES_MAX,
    PROBES,
    TARGETS,
    WORD_LINE_BYTES_MAX,
)
from eyelevel.from_outside.source import Source
from eyelevel.from_outside.words import quoted
from eyelevel.json_types import JsonMapping, JsonObject
from eyelevel.probes.targets import ProbeTargetName, parse_target

Key = tuple[str, int, str]
"""A target's host, port and path."""


def read_targets(path: Path) -> list[ProbeTargetName]:
    """`HOST[:PORT][/PATH]` a line, each target once, `#` begins a comment.

    Raises ProbeError naming the line that is none.
    """
    found: dict[ProbeTargetName, None] = {}
    for number, line in lines_of(path, Source(str(path), TARGETS, ProbeError), WORD_LINE_BYTES_MAX):
        text = line.lstrip("\ufeff").partition("#")[0].strip()
        if not text:
            continue
        try:
            found[parse_target(text)] = None
        except ProbeError as error:
            message = f"{path}, line {number}: `{quoted(text)}` is not a HOST[:PORT][/PATH]"
            raise ProbeError(f"{message}; correct it, or drop the line") from error
    if not found:
        raise ProbeError(f"{path} names no host: write one HOST[:PORT][/PATH] per line")
    return list(found)


def begun(count: int) -> JsonObject:
    """The line that stands before a list's rows."""
    return {"event": "list", "targets": count}


def done(key: Key) -> JsonObject:
    """The line that stands behind a target's last row."""
    return {"event": "target", "host": key[0], "port": key[1], "path": key[2]}


def key_of(row: JsonMapping) -> Key:
    """Of a row, or of a target in a configuration."""
    return (row["host"], row["port"], row["path"])


def read_done(path: Path) -> set[Key]:
    """Targets whose rows are all in the file, of the list that was begun last.

    Raises ProbeError where no list was begun in it, naming the line that is none of ours.
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
