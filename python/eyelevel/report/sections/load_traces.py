"""What loads were like on the wire: it describes, beside a difference, and explains nothing."""

import polars as pl

from eyelevel.analysis.figures.catalogue import FIGURES, TRACES
from eyelevel.analysis.figures.downlinks import downlink_medians
from eyelevel.analysis.phrases import NO_BREAK, percent
from eyelevel.analysis.study import Contents
from eyelevel.analysis.trials.downlink import MEASURES
from eyelevel.analysis.trials.limits import LIMITS
from eyelevel.report.drawings import Drawings
from eyelevel.report.html import Markup, element, table, with_code

TITLES = {
    "receive_gap_ms_max": "longest silence",
    "downlink_empty_share": "nothing on its way",
    "downlink_used_share": "rate used",
    "on_the_way_bytes_max": "most on its way",
    "receive_window_limited_ms": "browser's window full",
    "send_buffer_limited_ms": "servers had run dry",
    "unsent_bytes_max": "most unsent",
}
MEANINGS = MEASURES | LIMITS


def traces(contents: Contents, drawings: Drawings) -> list[Markup]:
    """The table of the downlink's medians, and the charts of typical loads."""
    medians = downlink_medians(contents)
    parts = [_table(medians), _note()] if medians.height else []
    charts = (drawings.place(figure) for figure in FIGURES if figure.name in TRACES)
    return [*parts, *(chart for chart in charts if chart is not None)]


def _table(medians: pl.DataFrame) -> Markup:
    columns = ["network", "stack", *TITLES.values()]
    rows = [
        [row["network"], row["stack"], *(_said(name, row[name]) for name in TITLES)]
        for row in medians.iter_rows(named=True)
    ]
    caption = "The downlink during a load: medians over sites of each site's median load"
    return table(caption, columns, rows, class_="cells")


def _note() -> Markup:
    definitions = (
        [element("dt", TITLES[name]), element("dd", with_code(MEANINGS[name]))] for name in TITLES
    )
    pairs = (element("div", *pair) for pair in definitions)
    summary = element("summary", "What these are")
    note = "They describe the loads; what makes a difference only a counterfactual can say."
    return element("details", summary, element("dl", *pairs), element("p", note, class_="note"))


def _said(name: str, value: float | None) -> str:
    if value is None:
        return "–" if name in LIMITS else "none"  # of a limit nobody told
    if name.endswith("_share"):
        return percent(value, signed=False)
    if name.endswith(("_ms_max", "_ms")):
        return f"{value:.0f}{NO_BREAK}ms"
    return f"{value / 1e3:.0f}{NO_BREAK}kB"
