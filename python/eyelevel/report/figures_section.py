"""The papers' figures and tables on the page, each drawn when it is opened."""

import json
from typing import Any

import polars as pl

from eyelevel.report.contents import Contents
from eyelevel.report.html import Markup, element, join, table
from eyelevel.report.paper_figures import FIGURES, TABLES, PaperTable
from eyelevel.report.words import percent

SPECIFICATION_BYTES_MAX = 800_000
ALL_BYTES_MAX = 2_000_000  # keeps the page below 15 MB beside the filmstrips
ROWS_MAX = 200


def figures_section(contents: Contents) -> tuple[Markup, dict[str, dict[str, Any]]]:
    """The section, and the charts' specifications by the id of their place."""
    specifications: dict[str, dict[str, Any]] = {}
    parts, absent, left = [], [], ALL_BYTES_MAX
    for figure in FIGURES:
        rows = figure.rows(contents)
        if not rows.height:
            absent.append(figure.name)
            continue
        summary = element("summary", figure.title, " ", element("small", figure.source))
        chart = figure.chart(rows, contents)
        size = len(json.dumps(chart))
        if size > min(left, SPECIFICATION_BYTES_MAX):
            command = element("code", f"eyelevel figures DIR --only {figure.name}")
            parts.append(
                element("details", summary, element("p", "Too large for this page: ", command, "."))
            )
            continue
        left -= size
        place = f"figure-{figure.name}"
        specifications[place] = chart
        label = f"Chart: {figure.title}, {figure.source}"
        picture = element("div", id=place, class_="drawing", role="img", aria_label=label)
        scroll = element(
            "div", picture, class_="scroll", tabindex="0", role="region", aria_label=figure.title
        )
        parts.append(element("details", summary, scroll, class_="figure"))
    for each in TABLES:
        rows = each.rows(contents)
        if rows.height:
            parts.append(_table(each, rows))
        else:
            absent.append(each.name)
    note = "Each is a command, too: " + f"eyelevel figures DIR --only {FIGURES[0].name}. "
    if absent:
        note += f"This run has nothing for {', '.join(absent)}."
    section = element(
        "section",
        element("h2", "Figures of the papers", id="figures"),
        *parts,
        element("p", note, class_="note"),
        aria_labelledby="figures",
    )
    return section, specifications


def _table(each: PaperTable, rows: pl.DataFrame) -> Markup:
    cells = [[_said(name, value) for name, value in row.items()]
             for row in rows.head(ROWS_MAX).iter_rows(named=True)]  # fmt: skip
    caption = each.title
    if rows.height > ROWS_MAX:
        caption += f": the first {ROWS_MAX} of {rows.height} rows"
    columns = [name.replace("_", " ") for name in rows.columns]
    summary = element("summary", each.title, " ", element("small", each.source))
    return element("details", summary, join([table(caption, columns, cells, class_="loads")]))


def _said(name: str, value: Any) -> object:
    if value is None:
        return "none"
    if isinstance(value, float):
        if name.startswith(("gain", "spread")):
            return percent(value)
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}".replace("-", "−")
    return value
