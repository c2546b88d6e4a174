"""What the machine did during a load: stolen and contended CPU time, read from the kernel."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

# Fields of the first line of /proc/stat (proc(5)), in ticks; guest time is part of user time.
_CPU_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


@dataclass(frozen=True)
class HostSample:
    """Counters since boot: ticks of all processors, and microseconds that some task waited."""

    ticks: Mapping[str, int]
    pressure_us: int | None
    at_s: float

    @classmethod
    def take(cls, now_s: float) -> Self:
        """Read the counters; pressure is None where the kernel does not count it."""
        fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
        ticks = dict(zip(_CPU_FIELDS, map(int, fields), strict=False))
        return cls(ticks, _pressure_us(), now_s)

    def until(self, later: "HostSample") -> dict[str, float | None]:
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
        }


def _pressure_us() -> int | None:
    try:
        text = Path("/proc/pressure/cpu").read_text(encoding="ascii")
    except OSError:
        return None
    some = text.split("\n", 1)[0]
    return int(some.rsplit("total=", 1)[1])
