"""The live view of `eyelevel path --watch`."""

import subprocess
import threading
from collections import deque
from collections.abc import Mapping
from typing import Any

from rich.live import Live
from rich.table import Table

from eyelevel.cli.output import hints, results, table

WATCH_INTERVAL_MS = 200
HISTORY = 16
"""Samples in the little curves: the last three seconds."""

_BARS = " ▁▂▃▄▅▆▇█"


class Meter:
    """What the events of one direction say, from one to the next."""

    def __init__(self) -> None:
        self.mbit_s: deque[float] = deque(maxlen=HISTORY)
        self.queue_ms: deque[float] = deque(maxlen=HISTORY)
        self.latest: Mapping[str, Any] = {}
        self._at_ns = 0

    def add(self, at_ns: int, counts: Mapping[str, Any]) -> None:
        """Take in one event's counts, which are totals since the path's start."""
        if self.latest and at_ns > self._at_ns:
            released = counts["released_bytes"] - self.latest["released_bytes"]
            self.mbit_s.append(released * 8e3 / (at_ns - self._at_ns))
            waits = counts["queue_packets"] or released
            self.queue_ms.append(counts["queue_delay_us"] / 1e3 if waits else 0.0)
        self.latest, self._at_ns = counts, at_ns


class LiveView:
    """Two lines under the command's output: each direction now, and its last seconds as curves."""

    def __init__(self) -> None:
        self._meters = {"down": Meter(), "up": Meter()}
        self._lock = threading.Lock()

    def update(self, event: Mapping[str, Any]) -> None:
        """Take in a `path` event; called by the lab's reading thread."""
        with self._lock:
            for direction, meter in self._meters.items():
                meter.add(event["at_ns"], event[direction])

    def follow(self, process: subprocess.Popen[bytes]) -> int:
        """Pass the command's output on above the view until it ends; its exit status."""
        assert process.stdout is not None
        rate = 1000 / WATCH_INTERVAL_MS
        shown_on = results if results.is_terminal else hints
        with Live(get_renderable=self.render, console=shown_on, refresh_per_second=rate):
            for line in process.stdout:
                text = line.decode(errors="replace").rstrip("\n")
                results.print(text, markup=False, soft_wrap=True)
            return process.wait()

    def render(self) -> Table:
        """The table as it stands."""
        made = table(
            "", "Mbit/s", "", "queue ms", "", "packets", "dropped", "marked", "late µs",
            right=("Mbit/s", "queue ms", "packets", "dropped", "marked", "late µs"),
        )  # fmt: skip
        with self._lock:
            for direction, meter in self._meters.items():
                made.add_row(direction, *_cells(meter))
        return made


def _cells(meter: Meter) -> list[str]:
    latest = meter.latest
    if not meter.mbit_s:
        return ["-"] * 8
    return [
        f"{meter.mbit_s[-1]:.2f}",
        curve(meter.mbit_s),
        f"{meter.queue_ms[-1]:.1f}",
        curve(meter.queue_ms),
        f"{latest['packets']}",
        f"{latest['dropped_packets']}",
        f"{latest['marked_packets']}",
        f"{latest['lateness_us']:.0f}",
    ]


def curve(values: deque[float]) -> str:
    """Values as bars; the highest is the largest that is shown."""
    top = max(values) or 1.0
    return "".join(_BARS[round(value / top * (len(_BARS) - 1))] for value in values)
