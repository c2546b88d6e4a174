"""Wait until a browser that has just started is idle.

After its first window Chromium 156 keeps two cores busy for 0.4 to 0.5 s (component set-up, first
compositing, renderer warm-up) and is idle from then on; a navigation within that time is slower,
and its time to first byte varies more. See `docs/decisions/0006-browser-start.md`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

WINDOW_S = 0.05
"""Length of the windows over which CPU use is read: five ticks of the kernel's accounting."""

IDLE_CPU_S_MAX = 0.01
"""Maximum CPU seconds per idle window: one tick (20 % of a core), since timers fire now and
then.
"""

IDLE_WINDOWS = 2
"""Consecutive idle windows needed; start-up has no pause of 0.1 s."""

SETTLE_TIMEOUT_S = 1.2
"""Time limit for settling. On a loaded machine start-up takes longer than is worth waiting for:
the load still counts, and the run's own checks decide whether the machine was fit for it.
"""


def settle(
    cpu_s: Callable[[], float], pump: Callable[[float], bool], ready: Callable[[], bool]
) -> bool:
    """Wait until the browser is idle and `ready`; returns False if that took too long.

    `cpu_s` returns the CPU seconds of all its processes, `pump` handles messages until a deadline.
    """
    give_up_s = time.monotonic() + SETTLE_TIMEOUT_S
    idle_windows = 0
    used_s = cpu_s()
    while idle_windows < IDLE_WINDOWS or not ready():
        window_end_s = time.monotonic() + WINDOW_S
        if window_end_s > give_up_s:
            return False
        while pump(window_end_s):
            pass
        before_s, used_s = used_s, cpu_s()
        idle_windows = idle_windows + 1 if used_s - before_s <= IDLE_CPU_S_MAX else 0
    return True
