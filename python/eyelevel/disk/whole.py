"""A file that is whole under its name, on the disk, too, or not there.

It is written under another name beside it, which cannot be guessed and is made exclusively, so that
no link is followed. Its maker holds a lock on it; who writes the same file next removes what a
killed one left.
"""

import contextlib
import errno
import glob
import os
import tempfile
from collections.abc import Iterator
from io import BufferedRandom
from pathlib import Path

from eyelevel.disk.folders import is_named, lock_folder, remove_orphan
from eyelevel.disk.locks import lock
from eyelevel.disk.steps import report_step

DRAFT_PREFIX = ".writing-"
"""The prefix of files and folders that are not complete yet."""

_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
"""The errors of disks that do not support hard links (link(2))."""

STEPS = ("file begun", "file made", "file written", "file synced", "file renamed", "file done")
"""The steps of writing a file, in this order; at `done` its name is on the disk, too."""


@contextlib.contextmanager
def whole_file(
    target: Path, *, is_new: bool = False, mode: int = 0o666
) -> Iterator[BufferedRandom]:
    """Yield a stream whose content is at `target` after the block; on an error `target` is
    unchanged.

    The stream may be read and sought in; its `name` is a path for others to write to. `is_new`:
    nothing is replaced. `mode`: the most that others may do with it. Raises OSError,
    FileExistsError if something would be replaced.
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
    """Yield a private folder beside `target` to make it in, and remove it after the block. Raises
    OSError."""
    prefix = f"{DRAFT_PREFIX}{target.name}-"
    _remove_drafts(target.parent, prefix)
    with lock_folder(target.parent, prefix) as folder:
        yield folder


def write_whole(target: Path, content: bytes, *, is_new: bool = False, mode: int = 0o666) -> None:
    """Write `target`, whole or not at all. Raises OSError, as `whole_file`."""
    with whole_file(target, is_new=is_new, mode=mode) as stream:
        stream.write(content)


def write_synced(file: Path, content: bytes) -> None:
    """Write a new file; a reader may see a part of it meanwhile. Raises OSError."""
    with file.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def sync_directory(directory: Path) -> None:
    """Have the names in it on the disk, too. Raises OSError."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def umask() -> int:
    """Return this process's umask without changing it, as asking the kernel would."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("Umask:"):
            return int(line.split()[1], 8)
    return 0o022


@contextlib.contextmanager
def _new_file(parent: Path, prefix: str) -> Iterator[BufferedRandom]:
    while True:
        descriptor, name = tempfile.mkstemp(prefix=prefix, dir=parent)
        # Between making and locking it somebody may take it for an orphan and remove it.
        if lock(descriptor) is not False and is_named(descriptor, Path(name)):
            break
        os.close(descriptor)
    with _open_named(descriptor, name) as stream:
        yield stream


def _link_new(temporary: Path, target: Path) -> None:
    """Link a file to a second name, which fails if that exists; the first name is removed later."""
    try:
        os.link(temporary, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Such a disk has no better answer than to look first.
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
