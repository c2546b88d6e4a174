"""The group `eyelevel metrics`: recompute metrics from a run's records or from a video.

Recompute every metric of every load of a run from raw records (`eyelevel metrics DIR`). Compute
metrics of the steps after the load, and print them as JSON or as a table.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer
from typer.core import TyperGroup

from eyelevel.analysis.metrics.catalogue import METRICS, METRICS_BY_NAME, measure
from eyelevel.analysis.metrics.steps import STEP_METRICS, step_metrics
from eyelevel.analysis.metrics.video import VideoMetrics, video_metrics
from eyelevel.analysis.pictures.video import read_video
from eyelevel.analysis.trials.facts import TRIAL_COLUMNS, Columns
from eyelevel.analysis.trials.post_hoc_exclusions import judge_table
from eyelevel.analysis.trials.table import trials_table
from eyelevel.base.errors import ExpectedError
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.cli.finish import end_at
from eyelevel.cli.output import WARNING_STYLE, print_json, results, table
from eyelevel.store.cells import to_csv
from eyelevel.store.directory import read_trial
from eyelevel.store.disk import write_result
from eyelevel.store.frames import Frames
from eyelevel.store.outcomes import COUNTED

if TYPE_CHECKING:
    from typer._click import Context


CELL = ["site", "network", "stack"]


def run(
    directory: Annotated[Path, typer.Argument(help="The directory that `eyelevel run` wrote.")],
    csv: Annotated[
        Path | None, typer.Option(help="Write one row per load, with every metric, to this file.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print every load with every metric as JSON.")
    ] = False,
) -> None:
    """Compute every metric again from records and frames.

    Prints medians per site, network and stack. Loads that do not count have no metrics.
    """
    if not (directory / "trials").is_dir():
        raise ExpectedError(
            f"reading {directory}: it has no folder `trials`; give the folder that "
            "`eyelevel run --out` wrote"
        )
    loads = _read_loads(directory)
    if csv is not None:
        write_result(csv, to_csv(loads))
        results.print(f"{loads.height} loads")
        end_at("rows", csv)
    elif as_json:
        steps = _steps(directory, loads)
        print_json([row | {"after_load": steps.get(row["hash"], [])} for row in loads.to_dicts()])
    else:
        _print(loads)
        _print_steps(loads, _steps(directory, loads))


def _read_loads(directory: Path) -> pl.DataFrame:
    names = tuple(METRICS_BY_NAME)
    columns = Columns(names, measure)
    judged = judge_table(trials_table(directory, columns, len(os.sched_getaffinity(0))))
    counts = pl.col("outcome") == "ok"
    metrics = [pl.when(counts).then(pl.col(name)).alias(name) for name in names]
    order = [*CELL, "repetition", "position"]
    return judged.sort(order).select(*TRIAL_COLUMNS, *metrics)


def _steps(directory: Path, loads: pl.DataFrame) -> dict[str, list[JsonObject]]:
    """Return the steps after each load that counts, by hash; loads without steps are left out."""
    by_hash = {}
    for name in loads.filter(outcome="ok")["hash"]:
        trial = read_trial(directory, name)
        if steps := measure_steps(trial.record, trial.step_frames()):
            by_hash[name] = steps
    return by_hash


def _print_steps(loads: pl.DataFrame, steps: Mapping[str, list[JsonObject]]) -> None:
    """Print medians of each step by site, network and stack."""
    medians = []
    for cell, rows in loads.group_by(CELL, maintain_order=True):
        measured = [steps[name] for name in rows["hash"] if name in steps]
        for same in zip(*measured, strict=True):
            known = {key: [s[key] for s in same if s[key] is not None] for key in STEP_METRICS}
            middle = {key: median(values) if values else None for key, values in known.items()}
            medians.append((" ".join(map(str, cell)), [{"step": same[0]["step"], **middle}]))
    print_steps(medians)


def _print(loads: pl.DataFrame) -> None:
    titles = list(SHOWN.values())
    listing = table("site", "network", "stack", "ok", *titles, right=("ok", *titles))
    cells = loads.group_by(CELL, maintain_order=True).agg(
        loads=pl.len(),
        ok=(pl.col("outcome") == "ok").sum(),
        **{name: pl.col(name).median() for name in SHOWN},
    )
    for row in cells.iter_rows(named=True):
        values = ["-" if row[name] is None else f"{row[name]:.0f}" for name in SHOWN]
        listing.add_row(*(row[name] for name in CELL), f"{row['ok']}/{row['loads']}", *values)
    results.print(listing)
    results.print("medians in ms; all metrics of each load: --csv FILE or --json")


class Convention(StrEnum):
    """A convention for analysing a video."""

    BROWSERTIME = "browsertime"
    EYELEVEL = "eyelevel"


JSON_KEYS = (
    "first_visual_change_ms",
    "last_visual_change_ms",
    "visual_complete_85_ms",
    "speed_index_ms",
    "perceptual_speed_index_ms",
    "contentful_speed_index_ms",
    "visual_progress",
    "settled",
    "navigation_shown",
)


def video(
    file: Annotated[Path, typer.Argument(help="A video that is orange until the navigation.")],
    convention: Annotated[
        Convention,
        typer.Option(
            help=(
                "`browsertime` crops the picture, masks its margins and rounds to whole "
                "percent; `eyelevel` does none of this."
            )
        ),
    ] = Convention.BROWSERTIME,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the visual metrics of any recorded video; they agree with Browsertime's.

    docs/reference/metrics.md says how the conventions differ.
    """
    as_browsertime = convention is Convention.BROWSERTIME
    metrics = video_metrics(read_video(file, cropped=as_browsertime), floored=as_browsertime)
    if as_json:
        values = asdict(metrics)
        print_json({key: values[key] for key in JSON_KEYS})
        return
    _print_video(metrics, as_browsertime)


def _print_video(found: VideoMetrics, as_browsertime: bool) -> None:
    values: JsonObject = asdict(found)
    listing = table("metric", "ms", right=("ms",))
    for metric in METRICS:
        if metric.name in values:
            value = values[metric.name]
            listing.add_row(metric.title, "-" if value is None else f"{value:.0f}")
    results.print(listing)
    steps = ", ".join(f"{at_ms} ms {percent:.0f} %" for at_ms, percent in found.visual_progress)
    results.print(f"visual progress: {steps or 'none: the picture is orange to its end'}")
    if found.first_visual_change_ms is None and steps:
        faint = "; --convention eyelevel counts fainter changes, too" if as_browsertime else ""
        results.print(f"nothing on the page changed{faint}", markup=False)
    if not found.navigation_shown:
        results.print(
            "no frame is orange, so the navigation is not to be seen: all times count from the "
            "video's first frame",
            markup=False,
            style=WARNING_STYLE,
        )
    if found.settled is False:
        results.print(
            "the page was still changing when the video ended: Last Visual Change and all that "
            "depends on it (Visually Complete, the indices) are of this video's length",
            markup=False,
            style=WARNING_STYLE,
        )


class _RunUnlessNamed(TyperGroup):
    """A group that runs `eyelevel metrics DIR` as `eyelevel metrics run DIR`."""

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Insert the default subcommand if none is named."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    help="Compute metrics from a run's records (`eyelevel metrics DIR`) or from a video.",
    no_args_is_help=True,
    cls=_RunUnlessNamed,
)
app.command("run")(run)
app.command("video")(video)


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
    listing = table("load", "step", *_STEP_COLUMNS.values(), right=tuple(_STEP_COLUMNS.values()))
    rows = [(name, step) for name, steps in loads for step in steps]
    for name, step in rows:
        values = ["-" if step[key] is None else f"{step[key]:.0f}" for key in _STEP_COLUMNS]
        listing.add_row(name, step["step"], *values)
    if rows:
        results.print(listing)
        results.print("steps after the load, in ms from their input")


assert set(_STEP_COLUMNS) <= set(STEP_METRICS)
