"""The papers' figures and tables on the page, each drawn when it is opened."""

import polars as pl

from eyelevel.analysis.figures.catalogue import FIGURES, TABLES, TRACES, PaperTable
from eyelevel.analysis.formats import format_number, format_percent
from eyelevel.analysis.study import Contents
from eyelevel.report.html import Markup, element, join, table, titled_section
from eyelevel.report.page_data import PageData

ROWS_MAX = 200
SHARES = ("ratio_of_means", "spread", "change", "median_change", "p95_change")
"""How columns begin whose numbers are changes by a share, shown in percent."""


def figures_section(contents: Contents, data: PageData) -> Markup:
    """The section; its charts go to `data`."""
    parts, absent = [], []
    for figure in FIGURES:
        if figure.name in TRACES:
            continue
        drawing = data.place(figure)
        if drawing is None:
            absent.append(figure.name)
        else:
            parts.append(drawing)
    for paper_table in TABLES:
        if paper_table.name in TRACES:
            continue
        rows = paper_table.rows(contents)
        if rows.height:
            parts.append(_table(paper_table, rows))
        else:
            absent.append(paper_table.name)
    note = "Each is a command, too: " + f"eyelevel figures DIR --only {FIGURES[0].name}. "
    if absent:
        note += f"This run has nothing for {', '.join(absent)}."
    return titled_section(
        "figures",
        "Figures of the papers",
        *parts,
        element("p", note, class_="note"),
    )


def _table(paper_table: PaperTable, rows: pl.DataFrame) -> Markup:
    cells = [[_format_cell(name, value) for name, value in row.items()]
             for row in rows.head(ROWS_MAX).iter_rows(named=True)]  # fmt: skip
    caption = paper_table.title
    if rows.height > ROWS_MAX:
        caption += f": the first {ROWS_MAX} of {rows.height} rows"
    columns = [name.replace("_", " ") for name in rows.columns]
    summary = element("summary", paper_table.title, " ", element("small", paper_table.source))
    return element("details", summary, join([table(caption, columns, cells, class_="loads")]))


def _format_cell(name: str, value: object) -> object:
    if value is None:
        return "none"
    if isinstance(value, float):
        if name.startswith(SHARES) and not name.endswith("_p"):
            return format_percent(value)
        return f"{value:,.0f}" if abs(value) >= 1000 else format_number(value, ".4g")
    return value
