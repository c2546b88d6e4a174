"""Claim a run's directory for one writer: a second one would remove what the first is writing."""

import os
from pathlib import Path

from eyelevel.disk.locks import describe_owner, lock
from eyelevel.disk.results import refusal_of_writing
from eyelevel.errors import StoreError, refusal_of

_CLAIMED: dict[tuple[int, int], int] = {}
"""The descriptors of claimed directories by device and inode; they are open as long as we live."""


def claim(directory: Path) -> None:
    """Make `directory` if need be, and keep other processes from writing there until this one ends.

    The kernel lets go of it however the process ends, and nothing lies in the directory. Raises
    StoreError if another process has it, or the disk refuses.
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
    if lock(descriptor) is False:  # where a disk has no locks the first to commit a trial wins
        owner = describe_owner(descriptor)
        os.close(descriptor)
        raise _make_claimed_error(directory, owner)
    _CLAIMED[key] = descriptor


def check_unclaimed(directory: Path) -> None:
    """Raise StoreError as `claim`, if another process has a directory; nothing is made."""
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
    """Return the process that has claimed `directory`, as text; empty if none has; None if its disk
    has no locks.

    Raises StoreError if it cannot be opened.
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
