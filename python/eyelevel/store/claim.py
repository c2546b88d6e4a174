"""Claim a run's directory for one writer: a second one would remove files of the first."""

import os
from pathlib import Path

from eyelevel.base.errors import StoreError, refusal_of
from eyelevel.store.disk import describe_owner, lock, refusal_of_writing

_CLAIMED: dict[tuple[int, int], int] = {}
"""Descriptors of claimed directories by device and inode; they stay open until this process
ends.
"""


def claim(directory: Path) -> None:
    """Create `directory` if needed, and lock it against other writers until this process ends.

    The kernel releases the lock however the process ends, and no file is left behind. Raises
    `StoreError` if another process has claimed it, or the disk refuses.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise StoreError(f"writing {directory}: {refusal_of_writing(error, directory)}") from error
    status = os.fstat(descriptor)
    if (key := (status.st_dev, status.st_ino)) in _CLAIMED:
        os.close(descriptor)
        return
    if lock(descriptor) is False:  # without locks on the disk, the first to commit a trial wins
        owner = describe_owner(descriptor)
        os.close(descriptor)
        raise _make_claimed_error(directory, owner)
    _CLAIMED[key] = descriptor


def check_unclaimed(directory: Path) -> None:
    """Raise `StoreError` if another process has claimed a directory; creates nothing."""
    try:
        status = directory.stat()
    except OSError:
        return
    if (status.st_dev, status.st_ino) not in _CLAIMED and (owner := writer(directory)):
        raise _make_claimed_error(directory, owner)


def _make_claimed_error(directory: Path, owner: str) -> StoreError:
    return StoreError(
        f"writing {directory}: {owner} is writing there; wait until it has ended, or choose "
        "another --out"
    )


def writer(directory: Path) -> str | None:
    """Return the process that claimed `directory`, as text; "" for none, None without disk locks.

    Raises `StoreError` if the directory cannot be opened.
    """
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise StoreError(f"reading {directory}: {refusal_of(error)}") from error
    try:
        found = lock(descriptor)
        return None if found is None else "" if found else describe_owner(descriptor)
    finally:
        os.close(descriptor)
