"""Write files atomically and durably: a file is complete under its name, or absent.

It is written under another name in the same folder, which cannot be guessed and is created
exclusively, so that no link is followed. Its writer holds a lock on it; the next writer of the same
file removes what a killed one left.
"""

import contextlib
import errno
import glob
import os
import tempfile
from collections.abc import Iterator
from io import BufferedRandom
from pathlib import Path

from eyelevel.store.disk.folders import is_named, lock_folder, remove_orphan
from eyelevel.store.disk.locks import lock
from eyelevel.store.disk.steps import report_step

DRAFT_PREFIX = ".writing-"
"""Prefix of files and folders that are not complete yet."""

_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
"""Errors of disks that do not support hard links (link(2))."""

STEPS = ("file begun", "file made", "file written", "file synced", "file renamed", "file done")
"""Steps of writing a file, in order; at `file done` its directory entry is synced, too."""


@contextlib.contextmanager
def whole_file(
    target: Path, *, is_new: bool = False, mode: int = 0o666
) -> Iterator[BufferedRandom]:
    """Yield a stream whose content becomes `target` after the block; on errors nothing changes.

    The stream can be read and sought; its `name` is a path that other code can write to. `is_new`:
    fail instead of replacing. `mode`: maximum permissions of the file. Raises `OSError`, and
    `FileExistsError` if something would be replaced.
    """
    report_step("file begun")
    prefix = f"{DRAFT_PREFIX}{target.name}-"
    _remove_drafts(target.parent, prefix)
    with _new_file(target.parent, prefix) as stream:
        temporary = Path(stream.name)
        try:
            report_step("file made")
            yield stream
            stream.flush()
            report_step("file written")
            os.fchmod(stream.fileno(), mode & ~umask())
            os.fsync(stream.fileno())
            report_step("file synced")
            (_link_new if is_new else os.replace)(temporary, target)
            report_step("file renamed")
            sync_directory(target.parent)
            report_step("file done")
        finally:
            if is_named(stream.fileno(), temporary):
                temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """Yield a private temporary folder next to `target`, removed after the block.

    Raises `OSError`.
    """
    prefix = f"{DRAFT_PREFIX}{target.name}-"
    _remove_drafts(target.parent, prefix)
    with lock_folder(target.parent, prefix) as folder:
        yield folder


def write_whole(target: Path, content: bytes, *, is_new: bool = False, mode: int = 0o666) -> None:
    """Write `target` atomically. Raises `OSError` as `whole_file` does."""
    with whole_file(target, is_new=is_new, mode=mode) as stream:
        stream.write(content)


def write_synced(file: Path, content: bytes) -> None:
    """Write a new file and sync it; readers may see a part of it meanwhile. Raises `OSError`."""
    with file.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def sync_directory(directory: Path) -> None:
    """Sync a directory's entries to disk. Raises `OSError`."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def umask() -> int:
    """Return this process's umask without changing it, unlike os.umask."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("Umask:"):
            return int(line.split()[1], 8)
    return 0o022


@contextlib.contextmanager
def _new_file(parent: Path, prefix: str) -> Iterator[BufferedRandom]:
    while True:
        descriptor, name = tempfile.mkstemp(prefix=prefix, dir=parent)
        # Before it is locked, another process may take it for an orphan and remove it.
        if lock(descriptor) is not False and is_named(descriptor, Path(name)):
            break
        os.close(descriptor)
    with _open_named(descriptor, name) as stream:
        yield stream


def _link_new(temporary: Path, target: Path) -> None:
    """Hard-link a file to a second name, which fails if that exists; the first is removed later."""
    try:
        os.link(temporary, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Without hard links, check for the target first; that is not atomic.
        if target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from error
        temporary.rename(target)


def _open_named(descriptor: int, name: str) -> BufferedRandom:
    """Open a descriptor as a stream whose `name` is a path, like that of a file opened by path."""
    return open(name, "w+b", opener=lambda *_: descriptor)


def _remove_drafts(parent: Path, prefix: str) -> None:
    for draft in list(parent.glob(f"{glob.escape(prefix)}*")):
        with contextlib.suppress(OSError):
            remove_orphan(draft)
