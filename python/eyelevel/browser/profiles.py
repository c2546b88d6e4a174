"""A folder for each load's browser: fresh, private, and gone after the load, even a killed one.

A lock on a file in the folder says who owns it; the kernel takes the lock back when its process
ends, however it ends. A process's number would not do: it is given again, and in another container
that shares the folder it means another process.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from eyelevel.browser.processes import end_named

PROFILE_PREFIX = "eyelevel-browser-"
LOCK_FILE = "owner.lock"

ORPHAN_AGE_S = 3600.0
"""An older folder without a lock belongs to nobody: its process ended while it made the folder."""

_PROCESS_TOKEN = secrets.token_hex(4)


@contextlib.contextmanager
def new_profile() -> Iterator[Path]:
    """A fresh, empty profile folder, private to one load; removes those of killed processes.

    A signal may come between a browser's start and our taking note of it. So folders and browsers
    that carry this process's mark end when this process ends at the latest.
    """
    _remove_orphans(Path(tempfile.gettempdir()))
    atexit.unregister(_remove_own)
    atexit.register(_remove_own)
    profile = Path(tempfile.mkdtemp(prefix=_own_prefix()))
    # It is locked before it has its name, so that nobody ever sees it free.
    unnamed = profile / f".{LOCK_FILE}"
    lock = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        unnamed.rename(profile / LOCK_FILE)
        yield profile
    finally:
        shutil.rmtree(profile, ignore_errors=True)
        os.close(lock)


def _own_prefix() -> str:
    return f"{PROFILE_PREFIX}{os.getpid()}-{_PROCESS_TOKEN}-"


def _remove_own() -> None:
    for profile in Path(tempfile.gettempdir()).glob(f"{_own_prefix()}*"):
        end_named(str(profile))
        shutil.rmtree(profile, ignore_errors=True)


def _remove_orphans(folder: Path) -> None:
    """Remove the profiles of processes that are gone, and end what still uses them."""
    for profile in folder.glob(f"{PROFILE_PREFIX}*"):
        with contextlib.suppress(OSError):
            if profile.lstat().st_uid == os.geteuid():
                _remove_if_orphan(profile)


def _remove_if_orphan(profile: Path) -> None:
    try:
        lock = os.open(profile / LOCK_FILE, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        if time.time() - profile.stat().st_mtime > ORPHAN_AGE_S:
            shutil.rmtree(profile, ignore_errors=True)
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        end_named(str(profile))
        shutil.rmtree(profile, ignore_errors=True)
    finally:
        os.close(lock)
