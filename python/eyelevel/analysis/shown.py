"""Which metrics and comparisons a report shows, and what metrics are called."""

from collections.abc import Sequence

import polars as pl

from eyelevel.analysis.gains.cells import Cell
from eyelevel.metrics.catalogue import METRICS_BY_NAME

# What Core Web Vitals go by; not every browser reports them.
VITALS = (
    "largest_contentful_paint_ms",
    "cumulative_layout_shift_score",
    "total_blocking_time_ms",
)
# Wolsing's five, two that say where a difference begins, and the vitals.
SHOWN = (
    "speed_index_ms",
    "first_visual_change_ms",
    "visual_complete_85_ms",
    "last_visual_change_ms",
    "page_load_time_ms",
    "first_contentful_paint_ms",
    "time_to_first_byte_ms",
    *VITALS,
)


def title_of(metric: str) -> str:
    """A metric's title; its name where the table has none."""
    return METRICS_BY_NAME[metric].title if metric in METRICS_BY_NAME else metric


def shown(primary_metric: str, drawn: str = "") -> list[str]:
    """The metrics of a report, the primary one first; with the one that figures draw, if any."""
    return list(dict.fromkeys([primary_metric, *SHOWN, *([drawn] if drawn else [])]))


def without_absent(metrics: Sequence[str], primary_metric: str, kept: pl.DataFrame) -> list[str]:
    """Return the metrics less those of VITALS that no load has, such as Firefox's."""
    absent = {name for name in VITALS if kept.height and kept[name].null_count() == kept.height}
    return [name for name in metrics if name == primary_metric or name not in absent]


TESTED_MAX = 400
"""Comparisons with the further tests: they take 6 ms each, and nobody reads more of them."""


def cells_shown(
    cells: Sequence[Cell], primary_metric: str, every_metric_max: int, rows_max: int
) -> list[Cell]:
    """Every metric's up to `every_metric_max` cells; else the primary metric's, `rows_max` at most.

    Of too many those with the largest gains and losses are shown; all stay in their order.
    """
    if len(cells) <= every_metric_max:
        return list(cells)
    return _extremes([cell for cell in cells if cell.metric == primary_metric], rows_max)


def timed_out_shown(cells: Sequence[Cell], primary_metric: str, rows_max: int) -> list[Cell]:
    """The primary metric's cells in which loads timed out; of too many those with most timeouts.

    A load that timed out has done so by every metric.
    """
    late = [
        cell
        for cell in cells
        if cell.metric == primary_metric and (cell.timeouts or cell.timeouts_reference)
    ]
    if len(late) <= rows_max:
        return late
    return sorted(late, key=lambda cell: -(cell.timeouts + cell.timeouts_reference))[:rows_max]


def _extremes(cells: list[Cell], rows_max: int) -> list[Cell]:
    if len(cells) <= rows_max:
        return cells
    known = sorted(
        (cell.gain.value, index) for index, cell in enumerate(cells) if cell.gain.value is not None
    )
    half = rows_max // 2
    chosen = sorted(index for _, index in (*known[:half], *known[max(half, len(known) - half) :]))
    return [cells[index] for index in chosen]
