"""Every metric of one load: frames and a record in, numbers out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from eyelevel.analysis.metrics.catalogue import METRICS, Record
from eyelevel.analysis.metrics.visual.history import Picture, visual_history
from eyelevel.analysis.metrics.visual.visual_progress import Progress, thin_progress


@dataclass(frozen=True, slots=True)
class Measured:
    """The results computed from one load: every metric by name, and its visual progress."""

    metrics: dict[str, float | None]
    progress: Progress = ()


def compute_metrics(
    frames: Iterable[tuple[float, Picture]], record: Record
) -> dict[str, float | None]:
    """Return every metric of one load by its name; None if its event did not happen.

    `frames` are `(at_ms, picture)` in order of time, the start state first; they are read once.
    """
    return _measure(frames, record).metrics


class StoredFrame(Protocol):
    """A frame as the store returns it."""

    @property
    def at_ms(self) -> float:
        """The display time, in ms."""

    @property
    def picture(self) -> Picture:
        """The image as an array."""


def measure(record: Record, frames: Iterable[StoredFrame]) -> Measured:
    """Return every metric of one stored load, and its progress; its frames are read once."""
    return _measure(((frame.at_ms, frame.picture) for frame in frames), record)


def metrics_of(record: Record, frames: Iterable[StoredFrame]) -> dict[str, float | None]:
    """Return every metric of one stored load."""
    return measure(record, frames).metrics


def _measure(frames: Iterable[tuple[float, Picture]], record: Record) -> Measured:
    history = visual_history(frames)
    metrics = {metric.name: metric.function(history, record) for metric in METRICS}
    return Measured(metrics, thin_progress(history))
