"""The cores that this process may use, and the share of their time.

Claim cores for the labs of one command: two commands of one user never share any.

A locked file per processor, in a folder of the user's, marks its owner; the kernel releases the
lock however the owner ends.
"""

import contextlib
import os
import stat
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from eyelevel.base.errors import ExpectedError
from eyelevel.load.host import CGROUP_MOUNTS
from eyelevel.store.disk import describe_owner, lock

CPUS = Path("/sys/devices/system/cpu")
CPU_CONTROLLER_MOUNTS = (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup/cpu,cpuacct"))
"""The mounts of the CPU controller in cgroup version 1."""


@dataclass(frozen=True)
class Processors:
    """The usable cores; hardware threads of one core share its capacity, so cores are counted."""

    cores: tuple[frozenset[int], ...]
    """The usable hardware threads of each core, by their numbers."""
    quota: float | None = None
    """The processors whose time the control group grants (a container's `--cpus`); None: no
    limit."""

    @classmethod
    def usable(cls) -> Self:
        """Return this process's processors, within `taskset`, cpusets and quotas."""
        return cls(whole_cores(os.sched_getaffinity(0)), quota())

    @property
    def count(self) -> int:
        """The number of cores that can be busy at once."""
        return len(self.cores) if self.quota is None else min(len(self.cores), int(self.quota))

    def __str__(self) -> str:
        if self.count < len(self.cores):
            return f"the time of {self.quota:g}, the quota of its control group"
        threads = sum(map(len, self.cores))
        more = f" (with {threads} hardware threads)" if threads > len(self.cores) else ""
        return f"{len(self.cores)}{more}"


def whole_cores(usable: Collection[int], cpus: Path = CPUS) -> tuple[frozenset[int], ...]:
    """Return the `usable` processors grouped by core, in the order of their numbers."""
    cores: dict[frozenset[int], frozenset[int]] = {}
    for number in sorted(usable):
        siblings = _siblings(number, cpus)
        cores[siblings] = siblings & frozenset(usable)
    return tuple(cores.values())


def quota(
    own: Path = Path("/proc/self/cgroup"),
    mounted: Sequence[Path] = CGROUP_MOUNTS,
    mounted_v1: Sequence[Path] = CPU_CONTROLLER_MOUNTS,
) -> float | None:
    """Return the smallest quota of our control group and its parents; None without one."""
    quotas: list[float] = []
    with contextlib.suppress(OSError):
        for line in own.read_text(encoding="ascii").splitlines():
            number, controllers, path = line.split(":", 2)
            if number == "0":
                quotas += _quotas(mounted, path, _quota_v2)
            elif "cpu" in controllers.split(","):
                quotas += _quotas(mounted_v1, path, _quota_v1)
    return min(quotas, default=None)


def _siblings(number: int, cpus: Path) -> frozenset[int]:
    try:
        text = (cpus / f"cpu{number}/topology/thread_siblings_list").read_text(encoding="ascii")
    except OSError:
        return frozenset({number})
    siblings = {number}
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        siblings.update(range(int(first), int(last or first) + 1))
    return frozenset(siblings)


def _quotas(
    mounts: Sequence[Path], path: str, read: Callable[[Path], float | None]
) -> Iterator[float]:
    for mount in mounts:
        # In a container the group's path may be the host's, which the mount does not have.
        group = mount / path.lstrip("/")
        for folder in (group, *group.parents):
            with contextlib.suppress(OSError, ValueError):
                if (value := read(folder)) is not None:
                    yield value
            if folder == mount:
                break


def _quota_v2(folder: Path) -> float | None:
    limit, period = (folder / "cpu.max").read_text(encoding="ascii").split()
    return None if limit == "max" else int(limit) / int(period)


def _quota_v1(folder: Path) -> float | None:
    limit = int((folder / "cpu.cfs_quota_us").read_text(encoding="ascii"))
    period = int((folder / "cpu.cfs_period_us").read_text(encoding="ascii"))
    return None if limit < 0 else limit / period


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
