"""Private folders for the browsers of loads, removed after the load even if it was killed.

A lock on the folder marks its owner; the kernel releases it when the process ends, however it ends.
A process id would not do: ids are reused, and in another container that shares the folder the same
id is another process.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from eyelevel.browser.processes import end_by_name
from eyelevel.store.disk.folders import lock_folder, remove_orphans

PROFILE_PREFIX = "eyelevel-browser-"
_PROCESS_TOKEN = secrets.token_hex(4)
_PROFILE = re.compile(PROFILE_PREFIX + r"[0-9]+-[0-9a-f]{8}-[a-z0-9_]{8}")


@contextlib.contextmanager
def new_profile() -> Iterator[Path]:
    """Create an empty profile folder, private to one load; removes those of dead processes.

    A signal can arrive between the start of a browser and our recording of it. So folders and
    browsers with this process's prefix are removed when this process exits at the latest.
    """
    parent = Path(tempfile.gettempdir())
    remove_orphans(parent, _PROFILE, end_users=lambda profile: end_by_name(str(profile)))
    atexit.unregister(_remove_own)
    atexit.register(_remove_own)
    with lock_folder(parent, _own_prefix()) as profile:
        yield profile


def _own_prefix() -> str:
    return f"{PROFILE_PREFIX}{os.getpid()}-{_PROCESS_TOKEN}-"


def _remove_own() -> None:
    for profile in Path(tempfile.gettempdir()).glob(f"{_own_prefix()}*"):
        end_by_name(str(profile))
        shutil.rmtree(profile, ignore_errors=True)
