"""Measure the machine during a load: CPU time of others, steal and pressure.

Foreign time is the time in which the processors of a load were neither idle, nor stolen, nor used
by the load itself: by this process or any that it started. So a neighbouring lab on processors of
its own is not foreign, and nor is anything that the load does, whatever its stack.
"""

import contextlib
import os
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

# Fields of a line of /proc/stat (proc(5)), in ticks; guest time is part of user time.
_CPU_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


MACHINE_PRESSURE = Path("/proc/pressure/cpu")
CGROUP_MOUNTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
"""The mounts of cgroup v2: alone, or beside version 1 (systemd's hybrid)."""


@dataclass(frozen=True)
class HostSample:
    """Counters since boot of this process's processors and of its own processes.

    `ticks` are by kind; `pressure_us` is the time in which some task waited, None if it is not
    counted.
    """

    ticks: Mapping[str, int]
    pressure_us: int | None
    at_s: float
    pressure_of: str = "machine"
    """The tasks whose waits are counted: `cgroup` (ours) or `machine`."""
    own_cpu_s: float = 0.0
    """Processor time of this process and of all that it started, ended ones included."""
    processors: int = 1

    @classmethod
    def take(cls, now_s: float) -> Self:
        """Read the counters; pressure is None if the kernel does not count it."""
        processors = os.sched_getaffinity(0)
        file = pressure_file()
        return cls(
            processor_ticks(Path("/proc/stat").read_text(encoding="ascii"), processors),
            _pressure_us(file),
            now_s,
            "machine" if file == MACHINE_PRESSURE else "cgroup",
            tree_cpu_s(os.getpid()),
            len(processors),
        )

    def until(self, later: "HostSample") -> dict[str, float | str | None]:
        """Return the shares of the time between two samples, 0 to 1, as in a record's `host`."""
        spent = {name: later.ticks[name] - self.ticks[name] for name in self.ticks}
        wall_s = later.at_s - self.at_s
        # Not the sum of all ticks: idle time is exact, while the others are sampled at each tick.
        capacity_s = self.processors * wall_s
        stolen_s = spent["steal"] / _TICKS_PER_S
        unused_s = (spent["idle"] + spent["iowait"]) / _TICKS_PER_S
        busy_s = capacity_s - unused_s - stolen_s
        foreign_s = busy_s - (later.own_cpu_s - self.own_cpu_s)
        pressure = None
        if self.pressure_us is not None and later.pressure_us is not None and wall_s > 0:
            pressure = min(1.0, (later.pressure_us - self.pressure_us) / (wall_s * 1e6))
        return {
            "cpu_steal_share": _share(stolen_s, capacity_s),
            "cpu_busy_share": _share(busy_s, capacity_s),
            "cpu_foreign_share": _share(foreign_s, capacity_s),
            "cpu_pressure_share": pressure,
            "cpu_pressure_of": self.pressure_of,
        }


def _share(part_s: float, whole_s: float) -> float:
    return min(1.0, max(0.0, part_s / whole_s)) if whole_s > 0 else 0.0


def processor_ticks(stat: str, processors: Collection[int]) -> dict[str, int]:
    """Return the ticks of these processors by kind; `stat` is the content of /proc/stat."""
    rows = [line.split() for line in stat.splitlines() if line.startswith("cpu")]
    wanted = {f"cpu{number}" for number in processors}
    own = [list(map(int, row[1:])) for row in rows if row[0] in wanted]
    return dict(zip(_CPU_FIELDS, map(sum, zip(*own, strict=True)), strict=False))


def tree_cpu_s(root: int, proc: Path = Path("/proc")) -> float:
    """Return the processor time of a process and of all its descendants, in seconds.

    Ended ones count with the process that waited for them. An orphan of a lab is adopted by the
    first process of the lab's namespace, so that it stays a descendant.
    """
    stats: dict[int, list[bytes]] = {}
    children: dict[int, list[int]] = {}
    for name in os.listdir(proc):  # noqa: PTH208
        if name.isdigit() and (fields := _stat_fields(f"{proc}/{name}/stat")):
            stats[int(name)] = fields
            children.setdefault(int(fields[_PARENT]), []).append(int(name))
    total_s, left = 0.0, [root]
    while left:
        pid = left.pop()
        left += children.get(pid, ())
        if pid in stats:
            total_s += _own_cpu_s(pid, stats[pid]) + _ticks_s(stats[pid][_WAITED_FOR])
    return total_s


# The fields of /proc/PID/stat from the third on (proc(5)): the parent, the times of the process,
# and those of the children that it waited for, user and system each.
_PARENT, _OWN, _WAITED_FOR = 1, slice(11, 13), slice(13, 15)


def _stat_fields(file: str) -> list[bytes]:
    """Return the fields from the third on; empty if the process is gone."""
    try:
        with open(file, "rb") as opened:  # noqa: PTH123
            text = opened.read()
    except OSError:
        return []
    # The second field is the name in parentheses, and may itself contain parentheses and blanks.
    return text[text.rfind(b")") + 2 :].split()


def _own_cpu_s(pid: int, fields: Sequence[bytes]) -> float:
    """Return a process's time by its CPU clock; by ticks a dozen processes would lack 0.1 s.

    The clock's number is that of clock_getcpuclockid(3).
    """
    try:
        return time.clock_gettime(~pid << 3 | _SCHEDULED)
    except OSError:
        return _ticks_s(fields[_OWN])


_SCHEDULED = 2  # CPUCLOCK_SCHED, include/linux/posix-timers_types.h
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def _ticks_s(fields: Sequence[bytes]) -> float:
    return sum(map(int, fields)) / _TICKS_PER_S


def pressure_file(
    own: Path = Path("/proc/self/cgroup"), mounted: Sequence[Path] = CGROUP_MOUNTS
) -> Path:
    """Return the file with the CPU pressure of our cgroup, or else of the whole machine.

    The lab and the browser are in the cgroup of the process that starts them. Waits of other groups
    do not affect our load until they take its processors.
    """
    with contextlib.suppress(OSError):
        for line in own.read_text(encoding="ascii").splitlines():
            # cgroup v2 is hierarchy 0 (cgroups(7)); its root counts the machine's pressure.
            if line.startswith("0::/") and (path := line.removeprefix("0::/")):
                files = [mount / path / "cpu.pressure" for mount in mounted]
                if file := next((file for file in files if file.exists()), None):
                    return file
    return MACHINE_PRESSURE


def _pressure_us(file: Path) -> int | None:
    try:
        text = file.read_text(encoding="ascii")
    except OSError:
        return None
    some = text.split("\n", 1)[0]
    return int(some.rsplit("total=", 1)[1])
