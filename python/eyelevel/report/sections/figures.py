"""The papers' figures on the page, each drawn when it is opened, and the names of their tables."""

from eyelevel.analysis.study import StudyResults
from eyelevel.report.figures.catalogue import FIGURES, SECTIONS, TABLES, TRACES
from eyelevel.report.html import Markup, element, titled_section
from eyelevel.report.page_data import PageData


def figures_section(contents: StudyResults, data: PageData) -> Markup:
    """Return the section; its charts go to `data`."""
    parts, absent = [], []
    for figure in FIGURES:
        if figure.name in (*TRACES, *SECTIONS):
            continue
        drawing = data.place(figure)
        if drawing is None:
            absent.append(figure.name)
        else:
            parts.append(drawing)
    tables = [
        each.name for each in TABLES if each.name not in TRACES and each.rows(contents).height
    ]
    note = f"Each is a command, too: eyelevel figures DIR --only {FIGURES[0].name}. "
    if tables:
        note += f"It also writes the papers' tables: {', '.join(tables)}. "
    if absent:
        note += f"This run has nothing for {', '.join(absent)}."
    return titled_section(
        "figures", "Figures of the papers", *parts, element("p", note, class_="note")
    )
