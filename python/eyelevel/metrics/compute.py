"""Every metric of one load: frames and a record in, numbers out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from eyelevel.metrics.catalogue import METRICS, Record
from eyelevel.metrics.history import Picture, visual_history


def compute_metrics(
    frames: Iterable[tuple[float, Picture]], record: Record
) -> dict[str, float | None]:
    """Every metric of one load by its name; None if what it measures did not happen.

    `frames` are `(at_ms, picture)` in order of time, the start state first; they are read once.
    """
    history = visual_history(frames)
    return {metric.name: metric.function(history, record) for metric in METRICS}


class StoredFrame(Protocol):
    """A frame as the store gives it back."""

    @property
    def at_ms(self) -> float:
        """Display time."""

    @property
    def picture(self) -> Picture:
        """The picture as an array."""


def metrics_of(record: Record, frames: Iterable[StoredFrame]) -> dict[str, float | None]:
    """Every metric of one stored load."""
    return compute_metrics(((frame.at_ms, frame.picture) for frame in frames), record)
