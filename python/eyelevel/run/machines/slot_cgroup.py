"""A cgroup of its own for each slot, where that is allowed, to count its own tasks' pressure.

The kernel counts pressure for every cgroup of version 2 (no controller is needed), and a load reads
that of its own (`eyelevel.load.host`). The process that owns the slots creates and removes
their groups; a slot's process enters its group, and so does everything that it starts.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from eyelevel.load.host import CGROUP_MOUNTS

GROUP_VARIABLE = "EYELEVEL_SLOT_CGROUP"
"""The environment variable with the folder of the group that a process is to enter."""
_NAME = "eyelevel-slot-{pid}-{number}"
_OURS = re.compile(r"eyelevel-slot-(?P<pid>\d+)-\d+")
_PROCESSES = "cgroup.procs"


@contextmanager
def slot_group(
    number: int,
    own: Path = Path("/proc/self/cgroup"),
    mounted: Sequence[Path] = CGROUP_MOUNTS,
) -> Iterator[Path | None]:
    """Yield a new group for the slot with this number, below ours; None where that is not allowed.

    Groups left by killed commands are removed, too.
    """
    parent = _own_group(own, mounted)
    group = parent and parent / _NAME.format(pid=os.getpid(), number=number)
    try:
        if group:
            assert parent
            _remove_stale(parent)
            group.mkdir()
    except OSError:
        group = None
    try:
        yield group
    finally:
        if group:
            with suppress(OSError):  # a process is still ending: the next command removes it
                group.rmdir()


def group_variable(group: Path | None) -> dict[str, str]:
    """Return the environment variables for a process that is to enter the group."""
    return {GROUP_VARIABLE: str(group)} if group else {}


def enter_group() -> bool:
    """Enter the group that the environment names, and return whether that worked."""
    if not (group := os.environ.get(GROUP_VARIABLE)):
        return False
    with suppress(OSError):
        (Path(group) / _PROCESSES).write_text("0")
        return True
    return False


def _own_group(own: Path, mounted: Sequence[Path]) -> Path | None:
    """Return the folder of the group that this process is in."""
    with suppress(OSError):
        for line in own.read_text(encoding="ascii").splitlines():
            if line.startswith("0::/"):
                folders = [mount / line.removeprefix("0::/") for mount in mounted]
                return next((each for each in folders if (each / _PROCESSES).exists()), None)
    return None


def _remove_stale(parent: Path) -> None:
    for folder in parent.glob("eyelevel-slot-*"):
        found = _OURS.fullmatch(folder.name)
        if found and not Path(f"/proc/{found['pid']}").exists():
            with suppress(OSError):
                folder.rmdir()
