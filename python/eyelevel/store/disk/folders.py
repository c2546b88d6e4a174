"""Temporary folders that are removed with their process, and those that killed processes left.

A folder's owner holds a lock on the folder itself. Creating a folder removes earlier ones that are
not locked.
"""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from eyelevel.store.disk.locks import lock

PREFIX = "eyelevel-tmp-"
_MADE_HERE = re.compile(PREFIX + r"[a-z]+-[a-z0-9_]{8}")
"""Pattern of the names that `temporary_folder` creates; users' own folders do not match it."""


@contextlib.contextmanager
def temporary_folder(kind: str) -> Iterator[Path]:
    """Create a folder private to this user, removed on exit; `kind` is part of its name.

    Raises `OSError`.
    """
    parent = Path(tempfile.gettempdir())
    remove_orphans(parent, _MADE_HERE)
    with lock_folder(parent, f"{PREFIX}{kind}-") as folder:
        yield folder


@contextlib.contextmanager
def lock_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Create a private, locked folder in `parent`; on exit it is removed unless it was renamed."""
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
    """Remove unlocked folders whose names match `made_here`; returns how many there were.

    `end_users` is called with each before its removal. Other users' folders and links are left
    alone.
    """
    removed = 0
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if made_here.fullmatch(entry.name) and _is_ours(entry):
                    removed += remove_orphan(Path(entry.path), end_users)
    return removed


def remove_orphan(path: Path, end_users: Callable[[Path], None] | None = None) -> bool:
    """Remove a file or folder unless it is locked; returns whether it was removed.

    Raises `OSError`.
    """
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
    """Return whether `path` still is the file that is open as `descriptor`."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except OSError:
        return False


def _make(parent: Path, prefix: str) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        # Before it is locked, another process may take it for an orphan and remove it.
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        if lock(descriptor) is not False and is_named(descriptor, folder):
            return folder, descriptor
        os.close(descriptor)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    return entry.stat(follow_symlinks=False).st_uid in (os.geteuid(), os.getuid())
