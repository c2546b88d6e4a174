"""The metrics and comparisons that a report shows, and the titles of metrics."""

from collections.abc import Sequence

import polars as pl

from eyelevel.analysis.gains.cells import Cell
from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME
from eyelevel.plan.user_timings import is_user_timing

# The Core Web Vitals; not every browser reports them, and the last needs steps after the load.
VITALS = (
    "largest_contentful_paint_ms",
    "cumulative_layout_shift_score",
    "total_blocking_time_ms",
    "interaction_to_next_paint_ms",
)
# Wolsing's five, two that locate where a difference begins, and the vitals.
REPORT_METRICS = (
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
    """Return a metric's title; of a user timing its name, as of any that the table has not."""
    if is_user_timing(metric):
        return metric.removesuffix("_ms")
    return METRICS_BY_NAME[metric].title if metric in METRICS_BY_NAME else metric


def report_metrics(primary_metric: str, drawn: str = "", timings: Sequence[str] = ()) -> list[str]:
    """Return a report's metrics: the primary one first, pages' own `timings` after the others, and
    last the one that figures draw."""
    names = [primary_metric, *REPORT_METRICS, *timings, *([drawn] if drawn else [])]
    return list(dict.fromkeys(names))


def without_absent(metrics: Sequence[str], primary_metric: str, kept: pl.DataFrame) -> list[str]:
    """Return the metrics without those of VITALS that no load has, such as in Firefox."""
    absent = {name for name in VITALS if kept.height and kept[name].null_count() == kept.height}
    return [name for name in metrics if name == primary_metric or name not in absent]


TESTED_MAX = 400
"""The most comparisons that get the further tests: each takes 6 ms, and readers skip longer
lists."""


def select_cells(
    cells: Sequence[Cell], primary_metric: str, every_metric_max: int, rows_max: int
) -> list[Cell]:
    """Return all cells if at most `every_metric_max`, else up to `rows_max` of the primary metric.

    If there are too many, those with the largest gains and losses are returned, in their order.
    """
    if len(cells) <= every_metric_max:
        return list(cells)
    return _extremes([cell for cell in cells if cell.metric == primary_metric], rows_max)


def select_timed_out(cells: Sequence[Cell], primary_metric: str, rows_max: int) -> list[Cell]:
    """Return the primary metric's cells with timed-out loads, at most `rows_max`.

    If there are more, those with the most timeouts come first. One metric is enough: a load that
    timed out did so for all.
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
