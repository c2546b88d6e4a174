"""Wall time of a load's phases."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping

logger = logging.getLogger(__name__)

PHASES = ("start", "open", "settle", "load", "quiet", "collect", "after_load")
"""Phases in their order; each ends at its mark."""


class Phases:
    """Records when each phase of a load ended."""

    def __init__(self, started_s: float) -> None:
        self._started_s = started_s
        self._marks_s: dict[str, float] = {}

    def mark(self, phase: str) -> None:
        """End `phase` now."""
        self._marks_s[phase] = now_s = time.monotonic()
        logger.info(
            "phase `%s` ended, %.0f ms after the start", phase, (now_s - self._started_s) * 1e3
        )

    def has_ended(self, phase: str) -> bool:
        """Return whether `phase` has ended."""
        return phase in self._marks_s

    def lengths_ms(self) -> dict[str, float]:
        """Return the length of each phase that ended, milliseconds."""
        lengths, before_s = {}, self._started_s
        for phase in PHASES:
            if phase in self._marks_s:
                lengths[phase] = milliseconds(self._marks_s[phase] - before_s)
                before_s = self._marks_s[phase]
        return lengths


def until_now(
    lengths_ms: Mapping[str, float], started_s: float, ending_s: float
) -> dict[str, float]:
    """Return `lengths_ms` with the browser's `end` and the `total`, both of which end now."""
    now_s = time.monotonic()
    end_ms, total_ms = milliseconds(now_s - ending_s), milliseconds(now_s - started_s)
    return {**lengths_ms, "end": end_ms, "total": total_ms}


def milliseconds(seconds: float) -> float:
    """Convert seconds to milliseconds, rounded to the microsecond."""
    return round(seconds * 1e3, 3)
