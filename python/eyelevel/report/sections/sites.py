"""Each site's numbers."""

from eyelevel.analysis.formats import format_ms, format_p, format_percent, format_signed_ms
from eyelevel.analysis.gains.cells import Cell
from eyelevel.analysis.shown import cells_shown, title_of
from eyelevel.analysis.study import Contents
from eyelevel.report.html import Markup, element, table, titled_section
from eyelevel.report.statistic_cells import estimate_cell, undetermined_cell

CELLS_MAX = 400  # rows; a larger study shows its primary metric by site, the rest is in the records


EXTREMES_MAX = 2000  # rows of a study that has more of the primary metric alone


def sites_section(contents: Contents) -> Markup:
    """Each site's medians, gains, paired differences and the published ANOVA."""
    primary = contents.primary_metric
    cells = cells_shown(contents.cells, primary, CELLS_MAX, EXTREMES_MAX)
    left_out = len(contents.cells) - len(cells)
    blocks = []
    for metric in dict.fromkeys(cell.metric for cell in cells):
        rows = [_cell_row(contents, cell) for cell in cells if cell.metric == metric]
        columns = [
            "site", "network", "stack", "reference", "pairs", "median", "reference's median",
            "gain, 95 % interval", "paired difference, 95 % interval", "ANOVA, p",
        ]  # fmt: skip
        content = table(f"{title_of(metric)}, by site", columns, rows, class_="cells")
        opened = {"open": ""} if metric == primary else {}
        blocks.append(element("details", element("summary", title_of(metric)), content, **opened))
    if left_out:
        text = f"{left_out} comparisons are not shown; `eyelevel.open(DIR).cells()` has them all."
        if len(cells) == EXTREMES_MAX:
            text = f"The largest gains and losses, {EXTREMES_MAX} rows; {text}"
        blocks.append(element("p", text, class_="note"))
    note = (
        "Medians treat a timeout as slower than the limit. The paired difference is the "
        "Hodges-Lehmann estimate over blocks; it has a 95 % interval from six blocks on. The "
        "ANOVA is that of Wolsing et al. 2019, who used a level of 0.01, for comparison with "
        "the paper; it assumes that runs are independent. Nothing here is corrected for the "
        "number of sites, networks and stacks, so nothing here is called faster or slower."
    )
    if contents.may_stop:
        note += " None of these allows for a study that stops once it has seen enough."
    return titled_section(
        "sites",
        "Site by site",
        *blocks,
        element("p", note, class_="note"),
    )


def _cell_row(contents: Contents, cell: Cell) -> list[object]:
    limit_s = contents.limit_s
    pairs: object = cell.pairs
    if cell.without_value:
        pairs = f"{cell.pairs} ({cell.without_value} without a value)"
    return [
        cell.site,
        cell.network,
        cell.stack,
        cell.reference,
        pairs,
        format_ms(cell.median, limit_s),
        format_ms(cell.median_reference, limit_s),
        estimate_cell(cell.gain, format_percent, "unclear"),
        estimate_cell(cell.difference, lambda ms: format_signed_ms(ms, limit_s), "unclear"),
        undetermined_cell(cell.anova.reason) if cell.anova.p is None else format_p(cell.anova.p),
    ]
