"""The steps after the load: one table per step, one row per comparison."""

from collections.abc import Callable

from eyelevel.analysis.gains.cells import Cell
from eyelevel.analysis.gains.exclusions import StepCells
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.report.html import Markup, element, join, make_titled_section, table
from eyelevel.report.statistic_cells import make_compared_json

ROWS_MAX = 200
"""The most rows of a step; those of a larger study are in the records."""

SHOWN = {
    "first_response_ms": "response, ms",
    "first_visual_change_ms": "first change",
    "speed_index_ms": "Speed Index",
    "last_visual_change_ms": "last change",
    "duration_ms": "duration",
    "load_event_ms": "page's load",
    "object_count": "requests",
    "received_bytes": "kB",
}
"""The metrics with their columns; one without any value has none."""

NOTE = (
    "Medians over the pairs, in milliseconds from the moment when the step's input was sent: "
    "to the first response, to the first and last visual change, to the last event of any "
    "kind, and to the load event of a page that the step opened. Below each is the paired "
    "difference from the reference (Hodges-Lehmann, over blocks) with a 95 % interval from six "
    "blocks on; negative is faster. These numbers only describe: no test or correction "
    "includes them."
)


def steps_section(results: StudyResults) -> Markup:
    """Return the section; empty for a plan without steps."""
    if not results.steps:
        return Markup("")
    return make_titled_section(
        "after-load",
        "After the load",
        *(_table(results, number, step) for number, step in enumerate(results.steps, start=1)),
        element("p", NOTE, class_="note"),
    )


def steps_json(results: StudyResults) -> JsonObject:
    """Return the steps as JSON."""
    return {"after_load": [_step_json(step) for step in results.steps]}


def _step_json(step: StepCells) -> JsonObject:
    return {
        "step": step.text,
        "differences": [
            {
                **make_compared_json(cell, "site", "pairs", "median", "median_reference"),
                "difference": cell.difference.as_json(),
            }
            for cell in step.cells
        ],
    }


def _table(results: StudyResults, number: int, step: StepCells) -> Markup:
    by_key = {(cell.site, cell.network, cell.comparison, cell.metric): cell for cell in step.cells}
    metrics = [
        name
        for name in SHOWN
        if any(
            value is not None
            for cell in step.cells
            if cell.metric == name
            for value in (cell.median, cell.median_reference)
        )
    ]
    rows: list[list[object]] = []
    for site, network in dict.fromkeys((cell.site, cell.network) for cell in step.cells):
        for comparison in results.comparisons:
            of_pair = [by_key.get((site, network, comparison, name)) for name in metrics]
            pairs = max((cell.pairs for cell in of_pair if cell), default=0)
            values = [_compare(cell) for cell in of_pair]
            rows.append([site, network, comparison.stack, comparison.reference, pairs, *values])
    columns = ["site", "network", "stack", "reference", "pairs", *(SHOWN[name] for name in metrics)]
    caption = element("strong", f"{number}. {step.text}")
    if len(rows) > ROWS_MAX:
        caption = join([caption, f" ({len(rows) - ROWS_MAX} more rows are in the records)"])
    return table(caption, columns, rows[:ROWS_MAX], class_="cells")


def _compare(cell: Cell | None) -> object:
    if cell is None or cell.median is None:
        return element("span", "none", class_="quiet")
    format_value = _formatter(cell.metric)
    return join(
        [format_value(cell.median), *_beside(cell), *_difference(cell.difference, format_value)]
    )


def _beside(cell: Cell) -> list[Markup]:
    if cell.median_reference is None:
        return []
    value = _formatter(cell.metric)(cell.median_reference)
    return [element("small", f"reference {value}")]


def _difference(difference: Estimate, format_value: Callable[[float], str]) -> list[Markup]:
    if difference.value is None:
        return [element("small", difference.reason)]
    lines = [_format_signed(difference.value, format_value)]
    if difference.low is not None and difference.high is not None:
        bounds = (difference.low, difference.high)
        lines.append(" to ".join(_format_signed(bound, format_value) for bound in bounds))
    return [element("small", line) for line in lines]


def _format_signed(value: float, format_value: Callable[[float], str]) -> str:
    text = format_value(abs(value))
    if float(text) == 0:
        return text
    return ("+" if value > 0 else "−") + text


def _formatter(metric: str) -> Callable[[float], str]:
    if metric == "received_bytes":
        return lambda value: f"{value / 1e3:.1f}"
    if metric == "object_count":
        return lambda value: f"{value:g}"
    return lambda value: f"{value:.0f}"
