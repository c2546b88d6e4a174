"""The cores that this process may use, and the share of their time."""

import contextlib
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from eyelevel.load.host import CGROUP_MOUNTS

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
