"""Find other tools' recordings in a folder, at any depth, by content or name."""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from eyelevel.base.errors import CorpusError
from eyelevel.base.from_outside.words import escape_control_characters

RECORDED = (".wacz", ".warc", ".warc.gz")
"""Suffixes of files that replay without conversion."""
CONVERTED = (".har", ".wprgo", ".wpr", ".flow", ".flows", ".mitm")
"""Suffixes of files that are converted; the importer recognises the format by its content."""
MAHIMAHI_FILE = "save."
"""Prefix of the files, one per exchange, in a folder of Mahimahi's recorder."""

SOURCES_MAX = 100_000
DEPTH_MAX = 30
_PROBED_MAX = 8
"""Maximum number of files opened to detect a folder of Mahimahi's."""
_ADDRESS = re.compile(rb"[0-9.]{7,15}|[0-9a-fA-F:.]{2,45}")
_OF_2014 = re.compile(rb"\x08[\x80-\xff]{0,2}[\x00-\x7f]\x12[\x04\x05]HTTP")
_NAME_MAX = 80


@dataclass(frozen=True)
class Source:
    """One recording made by another tool."""

    path: Path
    key: str
    """Path below the searched folder, without control characters."""
    bytes: int
    """Size of the file, or of all files of the folder."""

    @property
    def origin(self) -> str:
        """Return its full path without control characters, which identifies it."""
        return _cell(str(self.path))

    @property
    def replays_as_it_is(self) -> bool:
        """Whether it needs no conversion."""
        return self.path.name.endswith(RECORDED)

    @property
    def ending(self) -> str:
        """Return the suffix of the recording that it becomes."""
        endings = (ending for ending in RECORDED if self.path.name.endswith(ending))
        return max(endings, key=len, default=".wacz")


def find_sources(folder: Path) -> tuple[list[Source], int]:
    """Return the recordings in and below `folder` by path, and the number of other files.

    Links to folders are not followed, and only ordinary files count. Raises `CorpusError`.
    """
    if not folder.is_dir():
        raise CorpusError(f"{folder} is not a folder; give one that holds other tools' recordings")
    folder = folder.resolve()
    found: list[Source] = []
    others = 0
    for place, files in _folders(folder):
        sizes = dict(_ordinary(place, files))
        recordings = [name for name in sizes if name.lower().endswith((*RECORDED, *CONVERTED))]
        rest = [name for name in sizes if name not in recordings]
        found += [_source(folder, place / name, sizes[name]) for name in recordings]
        if rest and _is_mahimahi(place, rest):
            found.append(_source(folder, place, sum(sizes[name] for name in rest)))
        else:
            others += len(rest)
        if len(found) > SOURCES_MAX:
            raise CorpusError(f"{folder} has over {SOURCES_MAX:,} recordings; import it in parts")
    return sorted(found, key=lambda source: source.key), others


def name_of(source: Source, taken: set[str]) -> str:
    """Return a name for tables and files: that of the file or folder, with parents if taken."""
    base = source.path.name.lower().removesuffix(source.ending)
    parts = [*Path(source.key).parts[:-1], base]
    for ending in CONVERTED:
        parts[-1] = parts[-1].removesuffix(ending)
    for count in range(1, len(parts) + 1):
        name = plain_name("-".join(parts[-count:]))
        if name not in taken:
            return name
    return next(each for n in range(2, SOURCES_MAX) if (each := f"{name}-{n}") not in taken)


def plain_name(text: str) -> str:
    """Return a name of letters, digits, dots, underscores and hyphens, for files and tables."""
    name = re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.")
    return name[:_NAME_MAX].rstrip("-.").lower() or "site"


def _folders(top: Path) -> Iterator[tuple[Path, list[str]]]:
    depth = len(top.parts)
    for place, below, files in os.walk(top):
        at = Path(place)
        # Drafts of a killed import are not recordings.
        below[:] = sorted(name for name in below if not name.startswith("."))
        if len(at.parts) - depth >= DEPTH_MAX:
            below.clear()
        yield at, sorted(name for name in files if not name.startswith("."))


def _ordinary(place: Path, names: list[str]) -> Iterator[tuple[str, int]]:
    for name in names:
        try:
            status = (place / name).stat()
        except OSError:  # a broken link
            continue
        if stat.S_ISREG(status.st_mode):
            yield name, status.st_size


def _source(top: Path, path: Path, size: int) -> Source:
    key = path.name if path == top else str(path.relative_to(top))
    return Source(path, _cell(key), size)


def _cell(text: str) -> str:
    escaped = escape_control_characters(text, keep="")
    # Cells of the table are stripped.
    return escaped if escaped == escaped.strip() else f"'{escaped}'"


def _is_mahimahi(folder: Path, names: list[str]) -> bool:
    """Return whether a file is named as by Mahimahi's recorder, or begins like its records."""
    if any(name.startswith(MAHIMAHI_FILE) for name in names):
        return True
    return any(_begins_as_record(folder / name) for name in names[:_PROBED_MAX])


def _begins_as_record(file: Path) -> bool:
    """Return whether a file begins with the protobuf fields of a Mahimahi record.

    Fields 1 and 2 are the server's address as text and its port; in the layout of January 2014 its
    port, and the scheme as text.
    """
    try:
        with file.open("rb") as stream:
            head = stream.read(64)
    except OSError:
        return False
    if _OF_2014.match(head):
        return True
    if len(head) < 2 or head[0] != 0x0A:
        return False
    address, rest = head[2 : 2 + head[1]], head[2 + head[1] : 3 + head[1]]
    return bool(_ADDRESS.fullmatch(address)) and rest == b"\x10"
