"""Temporary folders that are gone with their process, and what killed processes left.

A folder's owner holds a lock on the folder itself. Who makes the next folder removes those that
nobody has locked.
"""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from eyelevel.disk.locks import lock

PREFIX = "eyelevel-tmp-"
_MADE_HERE = re.compile(PREFIX + r"[a-z]+-[a-z0-9_]{8}")
"""The names that `temporary_folder` gives; a person's folder has another name."""


@contextlib.contextmanager
def temporary_folder(kind: str) -> Iterator[Path]:
    """A new folder for this process's user alone, removed at the end. `kind` is part of its name.

    Raises OSError.
    """
    parent = Path(tempfile.gettempdir())
    remove_orphans(parent, _MADE_HERE)
    with lock_folder(parent, f"{PREFIX}{kind}-") as folder:
        yield folder


@contextlib.contextmanager
def lock_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A new folder in `parent`, private and locked, removed at the end if it still has its name."""
    folder, descriptor = _make(parent, prefix)
    try:
        yield folder
    finally:
        try:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(descriptor)


def remove_orphans(
    parent: Path, made_here: re.Pattern[str], end_users: Callable[[Path], None] | None = None
) -> int:
    """Remove folders of these names whose owners are gone; how many there were.

    `end_users` is called before with each. Nothing of other users is touched, nor behind a link.
    """
    removed = 0
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if made_here.fullmatch(entry.name) and _is_ours(entry):
                    removed += remove_orphan(Path(entry.path), end_users)
    return removed


def remove_orphan(path: Path, end_users: Callable[[Path], None] | None = None) -> bool:
    """Remove a file or folder unless it has an owner; whether it had none. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not lock(descriptor) or not is_named(descriptor, path):
            return False
        if end_users is not None:
            end_users(path)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        return True
    finally:
        os.close(descriptor)


def is_named(descriptor: int, path: Path) -> bool:
    """Return whether `path` is what is open here, and neither removed nor another."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except OSError:
        return False


def _make(parent: Path, prefix: str) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        # Between making and locking it somebody may take it for an orphan and remove it.
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        if lock(descriptor) is not False and is_named(descriptor, folder):
            return folder, descriptor
        os.close(descriptor)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    return entry.stat(follow_symlinks=False).st_uid in (os.geteuid(), os.getuid())
