"""Compute metrics of the steps after the load, and print them as JSON or as a table."""

from collections.abc import Iterable, Sequence

from eyelevel.analysis.metrics.steps import STEP_METRICS, step_metrics
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.cli.output import results, table
from eyelevel.store.frames import Frames
from eyelevel.store.outcomes import COUNTED

# Columns, by the field's usual abbreviations.
SHOWN = {
    "time_to_first_byte_ms": "TTFB",
    "first_contentful_paint_ms": "FCP",
    "first_visual_change_ms": "FVC",
    "visual_complete_85_ms": "VC85",
    "last_visual_change_ms": "LVC",
    "speed_index_ms": "SI",
    "page_load_time_ms": "PLT",
}


_STEP_COLUMNS = {
    "duration_ms": "duration",
    "first_response_ms": "response",
    "first_visual_change_ms": "FVC",
    "last_visual_change_ms": "LVC",
    "speed_index_ms": "SI",
    "load_event_ms": "load",
    "object_count": "objects",
    "received_bytes": "bytes",
}


def measure_steps(record: JsonMapping, frames: Sequence[Frames]) -> list[JsonObject]:
    """Return each step's text and metrics; [] for a load that does not count."""
    if record["outcome"] not in COUNTED:
        return []
    return [
        {"step": step["step"], **_metrics(step, pictures)}
        for step, pictures in zip(record.get("after_load", ()), frames, strict=True)
    ]


def _metrics(step: JsonMapping, frames: Frames) -> dict[str, float | None]:
    return step_metrics(step, ((frame.at_ms, frame.picture) for frame in frames))


def print_steps(loads: Iterable[tuple[str, Sequence[JsonMapping]]]) -> None:
    """Print one row per step and load, by the load's name; prints nothing without steps."""
    shown = table("load", "step", *_STEP_COLUMNS.values(), right=tuple(_STEP_COLUMNS.values()))
    rows = [(name, step) for name, steps in loads for step in steps]
    for name, step in rows:
        values = ["-" if step[key] is None else f"{step[key]:.0f}" for key in _STEP_COLUMNS]
        shown.add_row(name, step["step"], *values)
    if rows:
        results.print(shown)
        results.print("steps after the load, in ms from their input")


assert set(_STEP_COLUMNS) <= set(STEP_METRICS)
