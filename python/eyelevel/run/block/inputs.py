"""A run's recordings and traces on the machine that loads them: found there, or sent to it once.

Both are named by digests. A path of the client's that exists here with the digest is used; else a
copy in this machine's cache; else the file is requested.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eyelevel.base.errors import InputChangedError, StoreError, refusal_of
from eyelevel.load.traces import RESTORE
from eyelevel.plan.plan import ARCHIVE_SUFFIXES
from eyelevel.store.disk import write_whole

FOLDER_MODE = 0o700


@dataclass(frozen=True)
class Input:
    """A file that loads need."""

    digest: str
    """The SHA-256 of the content in hexadecimal."""
    path: str
    """The file's path on the client."""

    @property
    def name(self) -> str:
        """The file name of a copy, with the suffix by which recordings are recognised."""
        suffix = next((each for each in ARCHIVE_SUFFIXES if self.path.endswith(each)), "")
        return self.digest + suffix


Seen = tuple[int, int, int]
"""A file's inode, length and modification time: equal as long as it is unchanged."""

_found: dict[str, tuple[Path, Seen]] = {}
"""The paths of inputs that this process has found, by digest, with the file's state when it was
read."""


def resolve(needed: Mapping[str, Input]) -> tuple[dict[str, str], list[Input]]:
    """Return the paths of files on this machine, by the same keys, and the missing files."""
    paths, missing = {}, []
    for key, each in needed.items():
        if path := _find_local(each):
            paths[key] = path
        else:
            missing.append(each)
    return paths, missing


def content_of(needed: Input) -> bytes:
    """Return the content of the client's file. Raises InputChangedError if it has changed."""
    try:
        content = Path(needed.path).read_bytes()
    except OSError as error:
        raise InputChangedError(f"the file {needed.path}: {error.strerror}; {RESTORE}") from error
    if hashlib.sha256(content).hexdigest() != needed.digest:
        raise InputChangedError(
            f"the file {needed.path} has changed since the plan was read; {RESTORE}"
        )
    return content


def keep_input(needed: Input, content: bytes) -> None:
    """Cache a copy for all slots of this machine. Raises StoreError if it is damaged or refused."""
    folder = _cache()
    file = folder / needed.name
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
        write_whole(file, content)
    except OSError as error:
        raise StoreError(f"writing {file}: {refusal_of(error)}") from error
    if not _has_digest(needed, file):
        file.unlink(missing_ok=True)
        raise StoreError(
            f"keeping {needed.path} of the client: what came has another digest than "
            f"{needed.digest}; it was damaged on its way, or changed since the plan "
            "was read: run it again"
        )


def _find_local(needed: Input) -> str | None:
    """Return the path on this machine, or None.

    A file is read again only if it has changed: a cache may be cleared during a run.
    """
    file, before = _found.get(needed.digest, (None, None))
    if file is not None and _file_state(file) == before:
        return str(file)
    _found.pop(needed.digest, None)
    for file in (Path(needed.path), _cache() / needed.name):
        seen = _file_state(file)
        if seen is not None and _has_digest(needed, file):
            _found[needed.digest] = (file, seen)
            return str(file)
    return None


def _file_state(file: Path) -> Seen | None:
    try:
        stat = file.stat()
    except OSError:
        return None
    return (stat.st_ino, stat.st_size, stat.st_mtime_ns) if file.is_file() else None


def _has_digest(needed: Input, file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == needed.digest
    except OSError:
        return False


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "eyelevel" / "inputs"
