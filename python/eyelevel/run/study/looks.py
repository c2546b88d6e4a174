"""How often a run is looked at while it goes on: looking costs time in which nothing is loaded."""

import time
from collections.abc import Callable

LOOKING_SHARE_MAX = 0.001
"""Of a run's time: 3 ms of a load of 3 s; a look takes 40 ms, so that there are some a minute."""


class Looks:
    """Looks of one run, the first as soon as there is something to see."""

    def __init__(self, look: Callable[[], str], now_s: Callable[[], float] = time.monotonic):
        self._look = look
        self._now_s = now_s
        self._next_s = float("-inf")

    def may_look(self, now_s: float) -> bool:
        """Whether the last look is so long ago that a next one keeps to its share."""
        return now_s >= self._next_s

    def look(self) -> str:
        """What is seen."""
        began_s = self._now_s()
        reason = self._look()
        ended_s = self._now_s()
        self._next_s = ended_s + (ended_s - began_s) / LOOKING_SHARE_MAX
        return reason
