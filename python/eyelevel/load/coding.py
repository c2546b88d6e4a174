"""Encode a load's frames while its browser and its lab end, when nothing is measured any more."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from eyelevel.base.errors import BrowserMessageError
from eyelevel.browser.observations import RawLoad
from eyelevel.load.steps import step_frames
from eyelevel.store.frames import Frame, Frames
from eyelevel.store.outcomes import COUNTED


@dataclass(frozen=True)
class Pictures:
    """The encoded frames of a load, and its last one."""

    frames: Frames
    steps: tuple[Frames, ...]
    """The frames of each step after the load."""
    final: str | None
    """The last frame of the load itself, reduced in size; None without frames."""


NO_PICTURES = Pictures(Frames.of([]), (), None)


class Coding:
    """The encoding of one load's frames in a thread, started at most once."""

    def __init__(self, worker: ThreadPoolExecutor) -> None:
        self._worker = worker
        self._work: Future[Pictures] | None = None

    def begin(self, raw: RawLoad) -> None:
        """Start encoding a finished load's frames; return at once."""
        self._work = self._worker.submit(_encode, raw)

    def result(self) -> Pictures:
        """Wait for the encoded frames; empty if no load came so far.

        Raises `BrowserMessageError` if a frame is not a usable image.
        """
        return self._work.result() if self._work else NO_PICTURES

    def judged(self, outcome: str, detail: str) -> tuple[Pictures, str, str]:
        """Return frames and outcome: `capture-incomplete` if a good load's cannot be encoded."""
        try:
            return self.result(), outcome, detail
        except BrowserMessageError as error:
            if outcome in COUNTED:
                outcome, detail = "capture-incomplete", str(error)
            return NO_PICTURES, outcome, detail


@contextmanager
def coding() -> Iterator[Coding]:
    """Provide an encoder, and wait for it at the end, so that nothing runs during the next load."""
    with ThreadPoolExecutor(1) as worker:
        yield Coding(worker)


def _encode(raw: RawLoad) -> Pictures:
    try:
        pictures = [Frame.of_image(frame.at_ms, frame.image) for frame in raw.frames]
        steps = step_frames(raw.after_load)
    except PICTURE_ERRORS as error:
        raise BrowserMessageError(f"a frame is no picture: {type(error).__name__}") from error
    last = pictures[-1].picture if pictures else None
    return Pictures(Frames.of(pictures), steps, final_picture(last))


PICTURE_ERRORS = (OSError, SyntaxError, ValueError, Image.DecompressionBombError)
"""The exceptions of Pillow for bytes that are not an image, or one too large to decode."""


SIZE_PX = (32, 18)
"""The size of the final frame: it blurs carousels' captions and cursors, but shows a missing hero
image or an error page."""


def final_picture(last: NDArray[np.uint8] | None) -> str | None:
    """Return the last frame as 32 x 18 shades of grey in hexadecimal, row by row, or None."""
    if last is None:
        return None
    small = Image.fromarray(last).convert("L").resize(SIZE_PX, Image.Resampling.BOX)
    return small.tobytes().hex()
