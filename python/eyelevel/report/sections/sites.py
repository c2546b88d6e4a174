"""The numbers of each site."""

from eyelevel.analysis.formats import format_ms, format_p, format_percent, format_signed_ms
from eyelevel.analysis.gains.cells import Cell
from eyelevel.analysis.report_metrics import select_cells, title_of
from eyelevel.analysis.stats.pooled import beside_gain
from eyelevel.analysis.study import StudyResults
from eyelevel.report.html import Markup, element, table, titled_section, with_code
from eyelevel.report.sections.robustness import further_tests
from eyelevel.report.sections.timeouts import describe_censored
from eyelevel.report.statistic_cells import brief_cell, estimate_cell, undetermined_cell

ROWS_MAX = 400
"""The most rows; a larger study has those with the largest gains and losses."""


def sites_section(contents: StudyResults) -> Markup:
    """Return each site's medians, gains, paired differences and published ANOVA.

    They are of the primary metric; tests with other assumptions are collapsed below.
    """
    primary = contents.primary_metric
    cells = select_cells(contents.cells, primary, 0, ROWS_MAX)
    columns = [
        "site", "network", "stack", "reference", "pairs", "median", "reference's median",
        "gain, 95 % interval", "paired difference, 95 % interval", "ANOVA, p",
    ]  # fmt: skip
    rows = [_cell_row(contents, cell) for cell in cells]
    caption = f"{title_of(primary)}, by site"
    of_all = sum(cell.metric == primary for cell in contents.cells)
    if len(cells) < of_all:
        caption += f": the largest gains and losses, {len(cells)} of {of_all} rows"
    note = (
        "Medians treat a timeout as slower than the limit. The paired difference is the "
        "Hodges-Lehmann estimate over blocks, with an interval from six blocks on, unless only one "
        "of it and the gain excludes zero. The ANOVA is that of Wolsing et al. 2019, who used a "
        "level of 0.01; it assumes that runs are independent. Nothing here is corrected for the "
        "number of rows, so nothing is called faster or slower. The charts above have every metric "
        "by site, `eyelevel.open(DIR).cells()` all numbers."
    )
    return titled_section(
        "sites",
        "Site by site, in numbers",
        table(caption, columns, rows, class_="cells"),
        element("p", with_code(note), class_="note"),
        further_tests(contents),
        describe_censored(contents),
    )


def _cell_row(contents: StudyResults, cell: Cell) -> list[object]:
    limit_s = contents.limit_s
    difference = beside_gain(cell.difference, cell.gain)
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
        brief_cell(difference, lambda ms: format_signed_ms(ms, limit_s)),
        undetermined_cell(cell.anova.reason) if cell.anova.p is None else format_p(cell.anova.p),
    ]
