"""Further tests of each site's loads, with other assumptions than the published ANOVA.

The numbers of each site.
"""

from eyelevel.analysis.formats import (
    format_ms,
    format_number,
    format_p,
    format_p_equation,
    format_percent,
    format_signed_ms,
)
from eyelevel.analysis.gains.cells import Cell
from eyelevel.analysis.gains.site_tests import SiteTests
from eyelevel.analysis.report_metrics import select_cells, title_of
from eyelevel.analysis.stats.pooled import beside_gain
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.report.html import Markup, element, join, make_titled_section, table, with_code
from eyelevel.report.sections.outcomes import describe_censored, make_censored_json
from eyelevel.report.statistic_cells import (
    brief_cell,
    estimate_cell,
    make_collapsed_table,
    make_compared_json,
    make_tested_cell,
    make_tested_json,
    make_undetermined_cell,
)

_TESTS = (
    "Welch's ANOVA, p", "Kruskal-Wallis, p", "Games-Howell, 95 % interval", "Mann-Whitney, p",
    "Cliff's delta, 95 % interval", "mean difference, 95 % interval",
)  # fmt: skip

NOTES = (
    "Welch's ANOVA compares means and lets variances differ; it assumes runs that are independent "
    "and about normal.",
    "Kruskal-Wallis compares ranks, with a timeout as the slowest, and assumes independent runs.",
    "Games-Howell gives the difference of means for all pairs of a site's stacks together, with "
    "Welch's assumptions.",
    "Mann-Whitney compares the ranks of two stacks.",
    "Cliff's delta, from −1 to +1, is the share of pairs in which the load is slower than the "
    "reference's, less the share of those in which it is quicker.",
    "The mean difference is within blocks, with a bootstrap interval.",
)


def further_tests(results: StudyResults) -> Markup:
    """Return the tests of the primary metric, collapsed; empty if no site has two blocks.

    A test without any result, as with few blocks, has no column: a note names it.
    """
    tests = [each for each in results.site_tests if each.metric == results.primary_metric]
    if not tests:
        return Markup("")
    answered = [any(_has_answer(each, place) for each in tests) for place in range(len(_TESTS))]
    rows = [
        [*row[:4], *(cell for cell, there in zip(row[4:], answered, strict=True) if there)]
        for row in (_row(results, each) for each in tests)
    ]
    names = [name for name, there in zip(_TESTS, answered, strict=True) if there]
    columns = ["site", "network", "stack", "reference", *names]
    notes = [note for note, there in zip(NOTES, answered, strict=True) if there]
    if absent := [
        name.partition(",")[0] for name, there in zip(_TESTS, answered, strict=True) if not there
    ]:
        notes.append(f"These need more blocks: {', '.join(absent)}.")
    notes.append("The report bases no claim on these.")
    caption = f"{title_of(results.primary_metric)}: further tests, by site"
    summary = "Further tests of the same loads"
    return make_collapsed_table(
        summary, caption, columns, rows, " ".join(notes), class_="cells tests"
    )


def _has_answer(tests: SiteTests, place: int) -> bool:
    """Return whether one of a site's tests has a result."""
    answers = (
        tests.welch_anova.p, tests.kruskal_wallis.p, tests.games_howell.low, tests.mann_whitney.p,
        tests.cliffs_delta.low, tests.mean_difference.low,
    )  # fmt: skip
    return answers[place] is not None


def robustness_json(results: StudyResults) -> JsonObject:
    """Return the tests as JSON, one object per comparison.

    Undetermined ones are null, with the reason.
    """
    return {
        "site_tests": [
            {
                **make_compared_json(tests, "site"),
                "welch_anova": make_tested_json(tests.welch_anova),
                "kruskal_wallis": make_tested_json(tests.kruskal_wallis),
                "games_howell": tests.games_howell.as_json(),
                "mann_whitney": make_tested_json(tests.mann_whitney),
                "cliffs_delta": tests.cliffs_delta.as_json(),
                "mean_difference": tests.mean_difference.as_json(),
            }
            for tests in results.site_tests
        ],
        **make_censored_json(results),
    }


def _row(results: StudyResults, tests: SiteTests) -> list[object]:
    limit_s = results.limit_s

    def duration(value: float) -> str:
        return format_signed_ms(value, limit_s)

    howell = estimate_cell(tests.games_howell, duration)
    if tests.games_howell.p is not None:
        howell = join([howell, element("small", format_p_equation(tests.games_howell.p))])
    whitney = tests.mann_whitney
    return [
        tests.site,
        tests.network,
        tests.stack,
        tests.reference,
        make_tested_cell(tests.welch_anova, "F"),
        make_tested_cell(tests.kruskal_wallis, "H"),
        howell,
        make_undetermined_cell(whitney.reason) if whitney.p is None else format_p(whitney.p),
        estimate_cell(tests.cliffs_delta, _format_delta),
        estimate_cell(tests.mean_difference, duration),
    ]


def _format_delta(value: float) -> str:
    return format_number(value, "+.2f")


ROWS_MAX = 400
"""The most rows; a larger study has those with the largest gains and losses."""


def sites_section(results: StudyResults) -> Markup:
    """Return each site's medians, gains, paired differences and published ANOVA.

    They are of the primary metric; tests with other assumptions are collapsed below.
    """
    primary = results.primary_metric
    cells = select_cells(results.cells, primary, 0, ROWS_MAX)
    columns = [
        "site", "network", "stack", "reference", "pairs", "median", "reference's median",
        "gain, 95 % interval", "paired difference, 95 % interval", "ANOVA, p",
    ]  # fmt: skip
    rows = [_cell_row(results, cell) for cell in cells]
    caption = f"{title_of(primary)}, by site"
    of_all = sum(cell.metric == primary for cell in results.cells)
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
    return make_titled_section(
        "sites",
        "Site by site, in numbers",
        table(caption, columns, rows, class_="cells"),
        element("p", with_code(note), class_="note"),
        further_tests(results),
        describe_censored(results),
    )


def _cell_row(results: StudyResults, cell: Cell) -> list[object]:
    limit_s = results.limit_s
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
        make_undetermined_cell(cell.anova.reason)
        if cell.anova.p is None
        else format_p(cell.anova.p),
    ]
