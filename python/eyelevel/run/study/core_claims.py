"""Claim cores for the labs of one command: two commands of one user never share any.

A locked file per processor, in a folder of the user's, marks its owner; the kernel releases the
lock however the owner ends.
"""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from eyelevel.base.errors import ExpectedError
from eyelevel.run.study.cores import Processors
from eyelevel.store.disk.locks import describe_owner, lock


class CoresTakenError(ExpectedError):
    """Another command has claimed the cores; the message names it."""


@contextmanager
def claim_cores(processors: Processors, count: int) -> Iterator[Processors]:
    """Claim `count` cores, which no other command gets until the end of the block.

    Raises CoresTakenError if too few are free, OSError if the locks cannot be written.
    """
    folder = _runtime_folder()
    with ExitStack() as held:
        free: list[frozenset[int]] = []
        owners: list[str] = []
        for core in processors.cores:
            if len(free) == count:
                break
            owner = _claim(folder, core, held)
            if owner is None:
                free.append(core)
            else:
                owners.append(owner)
        # The owners of other cores use the same quota.
        room = min(len(free), processors.count - len(owners))
        if room < count:
            named = ", ".join(dict.fromkeys(owners))
            raise CoresTakenError(
                f"{count} cores are wanted, and {room} are free: this process may use "
                f"{processors}, and {len(owners)} are taken by {named}; wait until that has "
                "ended, or give fewer --jobs"
            )
        yield Processors(tuple(free))


def _claim(folder: Path, core: frozenset[int], held: ExitStack) -> str | None:
    """Claim all threads of a core; return the owner if another process has one of them."""
    with ExitStack() as taken:
        for number in sorted(core):
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(folder / f"processor-{number}.lock", flags, 0o600)
            taken.callback(os.close, descriptor)
            if lock(descriptor) is False:
                return describe_owner(descriptor)
        held.push(taken.pop_all())
    return None


def _runtime_folder() -> Path:
    """Return this user's folder for runtime files, where no other user can write."""
    user = os.geteuid()
    usual = Path("/run/user") / str(user)
    if given := os.environ.get("XDG_RUNTIME_DIR"):
        folder = Path(given) / "eyelevel"
    elif usual.is_dir():
        folder = usual / "eyelevel"
    else:
        folder = (
            Path("/run/eyelevel") if user == 0 else Path(tempfile.gettempdir(), f"eyelevel-{user}")
        )
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != user or status.st_mode & 0o022:
        raise CoresTakenError(
            f"claiming cores: {folder} is not this user's own folder; remove it, or set "
            "XDG_RUNTIME_DIR"
        )
    return folder
