"""What the machine did during a load: stolen and contended CPU time, read from the kernel."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

# Fields of the first line of /proc/stat (proc(5)), in ticks; guest time is part of user time.
_CPU_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


MACHINE_PRESSURE = Path("/proc/pressure/cpu")
CGROUP_MOUNTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
"""Where cgroup v2 is mounted: alone, or beside version 1 (systemd's hybrid)."""


@dataclass(frozen=True)
class HostSample:
    """Counters since boot: ticks of all processors, and microseconds that some task waited."""

    ticks: Mapping[str, int]
    pressure_us: int | None
    at_s: float
    pressure_of: str = "machine"
    """Whose tasks waited: `cgroup` (ours) or `machine`."""

    @classmethod
    def take(cls, now_s: float) -> Self:
        """Read the counters; pressure is None if the kernel does not count it."""
        fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
        ticks = dict(zip(_CPU_FIELDS, map(int, fields), strict=False))
        file = pressure_file()
        of = "machine" if file == MACHINE_PRESSURE else "cgroup"
        return cls(ticks, _pressure_us(file), now_s, of)

    def until(self, later: "HostSample") -> dict[str, float | str | None]:
        """Shares of the time between two samples, 0 to 1, as the record's `host` has them."""
        spent = {name: later.ticks[name] - self.ticks[name] for name in self.ticks}
        total = sum(spent.values())
        wall_us = (later.at_s - self.at_s) * 1e6
        pressure = None
        if self.pressure_us is not None and later.pressure_us is not None and wall_us > 0:
            pressure = min(1.0, (later.pressure_us - self.pressure_us) / wall_us)
        return {
            "cpu_steal_share": spent["steal"] / total if total else 0.0,
            "cpu_busy_share": 1 - (spent["idle"] + spent["iowait"]) / total if total else 0.0,
            "cpu_pressure_share": pressure,
            "cpu_pressure_of": self.pressure_of,
        }


def pressure_file(
    own: Path = Path("/proc/self/cgroup"), mounted: Sequence[Path] = CGROUP_MOUNTS
) -> Path:
    """Where the kernel counts CPU pressure for us: our cgroup's, else the whole machine's.

    The lab and the browser are in the cgroup of the process that starts them. What other groups
    wait for is not our load's trouble until it takes processors from this one.
    """
    with contextlib.suppress(OSError):
        for line in own.read_text(encoding="ascii").splitlines():
            # cgroup v2 has the one hierarchy 0 (cgroups(7)); its root counts what the machine does.
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
