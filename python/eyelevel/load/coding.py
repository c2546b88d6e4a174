"""Encode a load's frames while its browser and its lab end, when nothing is measured any more.

The steps after the load, for the record and its judge. The observations of a load that the judge
reads.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from eyelevel.base.errors import BrowserMessageError
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.browser.observations import RawLoad, StepLoad
from eyelevel.load.recorded_answers import RecordedAnswers, SentBody
from eyelevel.plan.browser import Browser
from eyelevel.plan.networks.network import Network
from eyelevel.plan.stacks import Stack
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


def step_frames(steps: Sequence[StepLoad]) -> tuple[Frames, ...]:
    """Return the frames of each step."""
    return tuple(
        Frames.of([Frame.of_image(frame.at_ms, frame.image) for frame in step.frames])
        for step in steps
    )


def after_load_record(steps: Sequence[StepLoad], frames: Sequence[Frames]) -> list[JsonObject]:
    """Return the record's `after_load`."""
    return [
        {
            **step.as_record(),
            "frames": [{"at_ms": at_ms, "index": i} for i, at_ms in enumerate(pictures.at_ms)],
        }
        for step, pictures in zip(steps, frames, strict=True)
    ]


def all_objects(raw: RawLoad) -> list[JsonObject]:
    """Return the objects of the load and of the steps after it, as records."""
    items = [item for step in raw.after_load for item in step.objects]
    return [item.as_record() for item in (*raw.objects, *items)]


def find_failed_step(raw: RawLoad) -> str:
    """Return the first failure or missing capture of a step, as a sentence; empty if none."""
    for step in raw.after_load:
        if step.failed:
            return f"after the load: {step.failed}"
    return ""


def all_pictures_match(raw: RawLoad) -> bool | None:
    """Return whether the last frame of the load and of each step matches the page at that time."""
    matches = [raw.final_picture_matches, *(s.final_picture_matches for s in raw.after_load)]
    return False if False in matches else matches[0]


@dataclass(frozen=True)
class Observed:
    """The observations of one load.

    `ended` and `detail` are the browser's; `objects` the record's; `frames` their number, None
    without capture; `requests`, `connections` and `path` the lab's; `host` the shares of
    `HostSample.until`; `connection_type` the browser's estimate of the network; `kernel` its
    release; `ended_on` the document that the page navigated to, if no server sent it;
    `timings_refused` why the page's own timings are invalid; `requests_lost` the number of those
    not in `objects`; `failed_step` the failure after the load.
    """

    ended: str
    detail: str
    objects: Sequence[JsonMapping]
    frames: int | None
    frames_lost: int
    first_contentful_paint_ms: float | None
    page_load_time_ms: float | None
    final_picture_matches: bool | None
    requests: Sequence[JsonMapping]
    connections: Sequence[JsonMapping]
    path: JsonMapping
    host: JsonMapping
    stack: Stack
    network: Network
    browser: Browser
    ended_on: str = ""
    timings_refused: str = ""
    requests_lost: int = 0
    connection_type: str | None = None
    kernel: str = ""
    failed_step: str = ""
    navigation_start_ns: int | None = None
    """Time zero on the lab's clock; None if the page was never navigated to."""
    bodies: Sequence[SentBody | None] = ()
    """The size of each object's body, of an external server's load; else empty."""
    answers: RecordedAnswers = field(default_factory=RecordedAnswers)
    """The recorded answers, of an external server's load."""
    are_others_blocked: bool = False
    """Whether a live build answers alone: no other origin is there on purpose."""

    @property
    def tells_connection_type(self) -> bool:
        """Whether our script could read the connection type: the page loaded, with JavaScript."""
        return self.ended == "complete" and self.browser.javascript
