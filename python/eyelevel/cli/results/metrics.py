"""The group `eyelevel metrics`: recompute metrics from a run's records or from a video."""

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from eyelevel.analysis.metrics.video import VideoMetrics, video_metrics
from eyelevel.analysis.pictures.video import read_video
from eyelevel.base.json_types import JsonObject
from eyelevel.cli.output import WARNING_STYLE, print_json, results, table
from eyelevel.cli.results.metrics_run import run


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
)
_TITLES = {
    "first_visual_change_ms": "First Visual Change",
    "visual_complete_85_ms": "Visually Complete 85 %",
    "visual_complete_95_ms": "Visually Complete 95 %",
    "visual_complete_99_ms": "Visually Complete 99 %",
    "last_visual_change_ms": "Last Visual Change",
    "speed_index_ms": "Speed Index",
    "perceptual_speed_index_ms": "Perceptual Speed Index",
    "contentful_speed_index_ms": "Contentful Speed Index",
}


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
    _print(metrics, as_browsertime)


def _print(found: VideoMetrics, as_browsertime: bool) -> None:
    values: JsonObject = asdict(found)
    shown = table("metric", "ms", right=("ms",))
    for name, title in _TITLES.items():
        shown.add_row(title, "-" if values[name] is None else f"{values[name]:.0f}")
    results.print(shown)
    steps = ", ".join(f"{at_ms} ms {percent:.0f} %" for at_ms, percent in found.visual_progress)
    results.print(f"visual progress: {steps or 'none: the picture is orange to its end'}")
    if found.first_visual_change_ms is None and steps:
        faint = "; --convention eyelevel counts fainter changes, too" if as_browsertime else ""
        results.print(f"nothing on the page changed{faint}", markup=False)
    if found.settled is False:
        results.print(
            "the page was still changing when the video ended: Last Visual Change and all that "
            "depends on it (Visually Complete, the indices) are of this video's length",
            markup=False,
            style=WARNING_STYLE,
        )


if TYPE_CHECKING:  # a private module of typer, needed only by type checkers
    from typer._click import Context


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
