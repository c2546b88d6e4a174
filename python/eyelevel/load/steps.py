"""The steps after the load, for the record and its judge."""

from collections.abc import Sequence

from eyelevel.base.json_types import JsonObject
from eyelevel.browser.observations import RawLoad, StepLoad
from eyelevel.store.frames import Frame, Frames


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
