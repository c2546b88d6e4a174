"""Results of tests and estimates as cells of tables and as JSON."""

from collections.abc import Callable

from eyelevel.analysis.formats import format_number, format_p
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.stats.hypothesis import DifferenceTest
from eyelevel.base.json_types import JsonObject
from eyelevel.report.html import Markup, element, escape, join, table, with_code


def make_collapsed_table(
    summary: str,
    caption: str,
    columns: list[str],
    rows: list[list[object]],
    note: str,
    class_: str = "gain-details",
) -> Markup:
    """Return a table that unfolds, with a note on the assumptions of its tests."""
    return element(
        "details",
        element("summary", summary),
        table(caption, columns, rows, class_=class_),
        element("p", with_code(note), class_="note"),
    )


def make_tested_cell(test: DifferenceTest, letter: str) -> object:
    """Return a p value above its statistic, or why there is none."""
    if test.p is None or test.statistic is None:
        return make_undetermined_cell(test.reason)
    freedom = ", ".join(f"{count:.3g}" for count in test.degrees_of_freedom)
    name = f"{letter}({freedom})" if freedom else letter
    statistic = format_number(test.statistic, ".3g")
    return join([format_p(test.p), element("small", f"{name} = {statistic}")])


def estimate_cell(
    estimate: Estimate, format_value: Callable[[float], str], class_: str = ""
) -> Markup:
    """Return a value above its interval, or why there is none; `class_` applies to the value."""
    if estimate.value is None:
        return make_undetermined_cell(estimate.reason)
    value: object = format_value(estimate.value)
    if class_:
        value = element("span", value, class_=class_)
    interval = estimate.reason
    if estimate.low is not None and estimate.high is not None:
        interval = f"{format_value(estimate.low)} to {format_value(estimate.high)}"
    return join([value, element("small", interval)])


def brief_cell(estimate: Estimate, format_value: Callable[[float], str]) -> Markup:
    """Return `estimate_cell`, but without the reason of a missing interval, which a note has."""
    if estimate.value is None or estimate.low is not None:
        return estimate_cell(estimate, format_value)
    return escape(format_value(estimate.value))


def make_undetermined_cell(reason: str) -> Markup:
    """Return a cell for an undetermined result, with the reason."""
    return join(["undetermined", element("small", reason)])


def make_compared_json(compared: object, *more: str) -> dict[str, object]:
    """Return the keys that identify a comparison, and the fields named by `more`."""
    return {
        name: getattr(compared, name) for name in ("network", "stack", "reference", "metric", *more)
    }


def make_tested_json(test: DifferenceTest) -> JsonObject:
    """Return a test as JSON."""
    return {
        "statistic": test.statistic,
        "degrees_of_freedom": list(test.degrees_of_freedom),
        "p": test.p,
        "undetermined_because": test.reason or None,
    }
