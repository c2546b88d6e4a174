"""Limit how often a running study analyses its records: no load runs meanwhile."""

import time
from collections.abc import Callable

PEEK_TIME_SHARE_MAX = 0.001
"""The share of a run's time spent on peeks: 3 ms of a load of 3 s. A peek takes 40 ms, so that
there are a few per minute."""


class PeekBudget:
    """The budget for peeks at one run; the first happens as soon as there is a result."""

    def __init__(self, analyse: Callable[[], str], now_s: Callable[[], float] = time.monotonic):
        self._analyse = analyse
        self._now_s = now_s
        self._next_s = float("-inf")

    def may_peek(self, now_s: float) -> bool:
        """Return whether another peek is within its share of the time."""
        return now_s >= self._next_s

    def peek(self) -> str:
        """Analyse the records so far, and return the effects as text."""
        began_s = self._now_s()
        reason = self._analyse()
        ended_s = self._now_s()
        self._next_s = ended_s + (ended_s - began_s) / PEEK_TIME_SHARE_MAX
        return reason
