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

from eyelevel.disk.folders import is_named, locked_folder, remove_orphan
from eyelevel.disk.locks import lock
from eyelevel.disk.steps import reached

DRAFT_PREFIX = ".writing-"
"""Of all that is not whole yet, file or folder."""

_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
"""What a disk without second names for a file says (link(2))."""

STEPS = ("file begun", "file made", "file written", "file synced", "file renamed", "file done")
"""Where writing a file stands, in this order; `done`: its name is on the disk, too."""


@contextlib.contextmanager
def whole_file(
    target: Path, *, is_new: bool = False, mode: int = 0o666
) -> Iterator[BufferedRandom]:
    """What the block writes is at `target` after it; with an error `target` is as it was.

    The stream may be read and sought in; its `name` is a path for others to write to. `is_new`:
    nothing is replaced. `mode`: the most that others may do with it. Raises OSError,
    FileExistsError if something would be replaced.
    """
    reached("file begun")
    prefix = f"{DRAFT_PREFIX}{target.name}-"
    _remove_drafts(target.parent, prefix)
    with _new_file(target.parent, prefix) as stream:
        temporary = Path(stream.name)
        try:
            reached("file made")
            yield stream
            stream.flush()
            reached("file written")
            os.fchmod(stream.fileno(), mode & ~umask())
            os.fsync(stream.fileno())
            reached("file synced")
            (_named_first if is_new else os.replace)(temporary, target)
            reached("file renamed")
            sync_directory(target.parent)
            reached("file done")
        finally:
            if is_named(stream.fileno(), temporary):
                temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """A private folder beside `target` to make it in, removed after the block. Raises OSError."""
    prefix = f"{DRAFT_PREFIX}{target.name}-"
    _remove_drafts(target.parent, prefix)
    with locked_folder(target.parent, prefix) as folder:
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
    """What this process's user wants no new file to allow; asking the kernel would change it."""
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
    with _named(descriptor, name) as stream:
        yield stream


def _named_first(temporary: Path, target: Path) -> None:
    """A second name, which the kernel gives once, whoever asks for it; the first one goes later."""
    try:
        os.link(temporary, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Such a disk has no better answer than to look first.
        if target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from error
        temporary.rename(target)


def _named(descriptor: int, name: str) -> BufferedRandom:
    """A stream whose `name` is a path, as that of a file which was opened by its path."""
    return open(name, "w+b", opener=lambda *_: descriptor)


def _remove_drafts(parent: Path, prefix: str) -> None:
    for draft in list(parent.glob(f"{glob.escape(prefix)}*")):
        with contextlib.suppress(OSError):
            remove_orphan(draft)
