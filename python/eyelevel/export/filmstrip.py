"""A load's pictures: one file a change, and a strip of them at even times."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from eyelevel.export.caption import captioned, seconds
from eyelevel.export.video import ExportError
from eyelevel.store.frames import Frames

PICTURES_MAX = 12
PICTURE_WIDTH_PX = 240
GAP_PX = 6
GAP_COLOUR = (128, 132, 140)  # a white page ends where the gap begins
STEPS_MS = (50.0, 100.0, 200.0, 250.0, 500.0, 1000.0, 2000.0, 2500.0, 5000.0, 10_000.0, 20_000.0)
STRIP = "strip.png"


def write_filmstrip(frames: Frames, label: str, directory: Path) -> None:
    """Write `MILLISECONDS.png` for each frame and `strip.png`; the folder is made.

    Raises `ExportError` for a load without frames.
    """
    if not frames.at_ms:
        raise ExportError(f"writing {directory}: the load has no frames; was it captured?")
    directory.mkdir(parents=True, exist_ok=True)
    for frame in frames:
        name = f"{round(frame.at_ms):06d}.png"
        Image.fromarray(frame.picture).save(directory / name, optimize=True)
    times_ms = strip_times_ms(frames.at_ms[-1])
    pictures = [
        captioned(frame, PICTURE_WIDTH_PX, label if number == 0 else "", seconds(at_ms))
        for number, (frame, at_ms) in enumerate(zip(frames.at(times_ms), times_ms, strict=True))
    ]
    width = len(pictures) * (PICTURE_WIDTH_PX + GAP_PX) - GAP_PX
    strip = Image.new("RGB", (width, pictures[0].height), GAP_COLOUR)
    for number, picture in enumerate(pictures):
        strip.paste(picture, (number * (PICTURE_WIDTH_PX + GAP_PX), 0))
    strip.save(directory / STRIP, optimize=True)


def strip_times_ms(end_ms: float) -> list[float]:
    """Even times of a round step from 0, the last at or after the end; at most 12 of them."""
    step = next((s for s in STEPS_MS if s * (PICTURES_MAX - 1) >= end_ms), STEPS_MS[-1])
    count = min(PICTURES_MAX, -int(-end_ms // step) + 1)
    return [step * number for number in range(count)]
