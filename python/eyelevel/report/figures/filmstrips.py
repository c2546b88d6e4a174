"""Filmstrips: the loads of one typical block per site and network, all on one time axis.

Each strip has frames at even times, and for the slider the moments at which its load changed.
"""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl
from PIL import Image

from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.facts import PROGRESS_COLUMNS
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.store.directory import read_trial_frames
from eyelevel.store.frames import Frame, Frames
from eyelevel.store.pictures import Picture, picture_name

COLUMNS_MAX = 10  # frames of 100 pixels that fit side by side on a laptop
WIDTH_PX = 360  # the width for two of them side by side on a laptop
QUALITY = 60
PICTURE_BYTES_MAX = 5_000_000  # keeps the page below 8 MB with Vega's 0.9 MB and the tables
CHANGES_MAX = 24  # frames of one load that the slider shows
NICE_STEPS_MS = [m * 10**e for e in range(1, 6) for m in (1, 2, 2.5, 5)]


@dataclass
class Filmstrips:
    """The data for the page's script: each image once, and the times of each strip's frames."""

    pictures: list[str] = field(default_factory=list)
    strips: list[JsonObject] = field(default_factory=list)
    left_out: int = 0

    def as_data(self) -> JsonObject:
        """Return the data block of the page."""
        return {"pictures": self.pictures, "strips": self.strips}


def filmstrips(results: StudyResults) -> Filmstrips:
    """Return the strips of sites and networks in the plan's order, up to PICTURE_BYTES_MAX.

    The strips of a site and network are of one block (`typical_loads`). A site and network without
    frames has none; `left_out` counts those that exceeded the limit.
    """
    result = Filmstrips()
    typical = typical_loads(results) if results.plan.browser.capture else {}
    pictures = _Pictures(result.pictures)
    for site in results.sites:
        for network in results.networks:
            if pictures.total_bytes > PICTURE_BYTES_MAX:
                result.left_out += 1
                continue
            loads = typical.get((site, network), {})
            frames = _frames_of(results, loads)
            if not frames:
                continue
            times = _times(max(stack_frames.at_ms[-1] for stack_frames in frames.values()))
            stacks = {}
            for stack, stack_frames in frames.items():
                changes = _changes(stack_frames.at_ms)
                numbers = pictures.numbers(stack_frames, [*times, *changes])
                stacks[stack] = _strip(results, loads[stack]) | {
                    "pictures": numbers[: len(times)],
                    "changes": [
                        [round(at_ms, 1), number]
                        for at_ms, number in zip(changes, numbers[len(times) :], strict=True)
                    ],
                }
            result.strips.append(
                {"site": site, "network": network, "times_ms": times, "stacks": stacks}
            )
    return result


def strips_of(results: StudyResults, site: str, network: str) -> dict[str, list[tuple[float, str]]]:
    """Return the frames of each stack's typical load at even times, as seconds and data URLs."""
    if not results.plan.browser.capture:
        return {}
    frames = _frames_of(results, typical_loads(results, [site]).get((site, network), {}))
    if not frames:
        return {}
    times = _times(max(stack_frames.at_ms[-1] for stack_frames in frames.values()))
    return {
        stack: [
            (time / 1e3, thumbnail(frame.picture))
            for time, frame in zip(times, stack_frames.at(times), strict=True)
        ]
        for stack, stack_frames in frames.items()
    }


def typical_loads(
    results: StudyResults, sites: Sequence[str] | None = None
) -> dict[tuple[str, str], dict[str, JsonObject]]:
    """Return the rows of the typical block, by site and network and then by stack.

    All loads of a strip are from one block, so that a disturbance affects all of them. It is the
    block whose differences between the compared stacks are nearest to their medians over the
    blocks; among equally near ones, the block whose values are. `sites` None: all of them.
    """
    metric, wanted = results.drawn_metric, results.sites if sites is None else sites
    rows = results.blocks.kept.select(
        "site", "network", "stack", "repetition", "hash", metric, *PROGRESS_COLUMNS
    ).filter(pl.col("site").is_in(wanted), pl.col(metric).is_not_null())
    chosen = _typical_blocks(results, rows.select(*_BLOCK, "stack", metric), metric)
    by_cell: dict[tuple[str, str], dict[str, JsonObject]] = {}
    of_blocks = rows.join(chosen, on=_BLOCK, how="semi").sort("site", "network")
    for row in of_blocks.iter_rows(named=True):
        by_cell.setdefault((row["site"], row["network"]), {})[row["stack"]] = row
    return {
        key: {stack: by_stack[stack] for stack in results.stacks if stack in by_stack}
        for key, by_stack in by_cell.items()
    }


_BLOCK = ["site", "network", "repetition"]


def _typical_blocks(results: StudyResults, values: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Return the typical block of each site and network."""
    wide = values.pivot(on="stack", index=_BLOCK, values=metric)
    logs = {name: pl.col(name).log() for name in results.stacks if name in wide.columns}
    differences = [
        logs[comparison.stack] - logs[comparison.reference]
        for comparison in results.comparisons
        if {comparison.stack, comparison.reference} <= logs.keys()
    ]
    ranked = wide.select(
        *_BLOCK,
        absent=pl.sum_horizontal(pl.lit(0), *(pl.col(name).is_null() for name in logs)),
        # Rounded, so that the last bits of equal distances do not decide.
        apart=_distance(differences).round(9),
        away=_distance(list(logs.values())).round(9),
    )
    order = ["site", "network", "absent", "apart", "away", "repetition"]
    return ranked.sort(order).unique(["site", "network"], keep="first", maintain_order=True)


def _distance(values: Sequence[pl.Expr]) -> pl.Expr:
    """Return the sum of the values' distances from their medians within site and network."""
    medians = (value.median().over("site", "network") for value in values)
    away = ((value - middle).abs() for value, middle in zip(values, medians, strict=True))
    return pl.sum_horizontal(pl.lit(0.0), *away)


class _Pictures:
    """Thumbnails, each image once.

    A load is decoded only if it has an image that no earlier load had. That is rare where images
    differ little; where they differ much, the byte limit is reached soon.
    """

    def __init__(self, thumbnails: list[str]) -> None:
        self._thumbnails = thumbnails
        self._by_source: dict[str, int] = {}
        self._by_pixels: dict[str, int] = {}
        self.total_bytes = 0

    def numbers(self, frames: Frames, times_ms: Sequence[float]) -> list[int]:
        """Return the number of the thumbnail that was on the screen at each time."""
        sources = frames.sources_at(times_ms)
        if not self._by_source.keys() >= set(sources):
            for source, frame in zip(sources, frames.at(times_ms), strict=True):
                if source not in self._by_source:
                    self._by_source[source] = self._number(frame)
        return [self._by_source[source] for source in sources]

    def _number(self, frame: Frame) -> int:
        pixels = picture_name(frame.picture)
        if pixels not in self._by_pixels:
            self._by_pixels[pixels] = len(self._thumbnails)
            self._thumbnails.append(thumbnail(frame.picture))
            self.total_bytes += len(self._thumbnails[-1])
        return self._by_pixels[pixels]


def _frames_of(results: StudyResults, loads: JsonMapping) -> dict[str, Frames]:
    """Return the frames by stack, of loads that have any."""
    directory = results.directory
    frames = {stack: read_trial_frames(directory, row["hash"]) for stack, row in loads.items()}
    return {stack: stack_frames for stack, stack_frames in frames.items() if stack_frames}


def _strip(results: StudyResults, row: JsonObject) -> JsonObject:
    value = row[results.drawn_metric]
    steps = zip(row["progress_at_ms"] or (), row["progress_share"] or (), strict=True)
    return {
        "repetition": row["repetition"],
        "value_ms": round(value, 1),
        "hash": row["hash"],
        "progress": [[round(at_ms, 1), round(share, 3)] for at_ms, share in steps],
    }


def _times(end_ms: float) -> list[float]:
    """Return even steps of a round length, in ms; the last is at or after the end."""
    step = next((s for s in NICE_STEPS_MS if s * COLUMNS_MAX >= end_ms), NICE_STEPS_MS[-1])
    count = max(1, min(COLUMNS_MAX, -int(-end_ms // step)))
    return [step * number for number in range(1, count + 1)]


def _changes(at_ms: Sequence[float]) -> list[float]:
    """Return the times of a load's frames, thinned evenly; always the first and the last."""
    count = min(CHANGES_MAX, len(at_ms))
    if count < 2:
        return list(at_ms)
    last = len(at_ms) - 1
    return [at_ms[round(number * last / (count - 1))] for number in range(count)]


def thumbnail(picture: Picture) -> str:
    """Return a picture as a data URL, small enough to stand beside another."""
    image = Image.fromarray(picture)
    height = round(image.height * WIDTH_PX / image.width)
    buffer = io.BytesIO()
    small = image.resize((WIDTH_PX, height), Image.Resampling.LANCZOS)
    small.save(buffer, "WEBP", quality=QUALITY, method=4)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()
