"""A cgroup of version 2 for a test; skips where none can be made."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def new_cgroup() -> Iterator[Path]:
    """One below ours, which is gone afterwards: nobody may be left in it."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    mounted = [Path(words[1]) for words in mounts if words[2] == "cgroup2"]
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    own = next((line[3:] for line in lines if line.startswith("0::")), None)
    if not mounted or own is None:
        pytest.skip("no cgroup of version 2 is mounted here")
    folder = mounted[0] / own.lstrip("/") / f"eyelevel-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no cgroup can be made here: {error.strerror}")
    try:
        yield folder
    finally:
        folder.rmdir()
