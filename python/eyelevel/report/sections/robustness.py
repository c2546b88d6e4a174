"""The loads of each site once more, by tests that assume other things than the published ANOVA."""

from eyelevel.analysis.formats import format_number, format_p, format_p_equation, format_signed_ms
from eyelevel.analysis.gains.site_tests import SiteTests
from eyelevel.analysis.shown import title_of
from eyelevel.analysis.study import Contents
from eyelevel.json_types import JsonObject
from eyelevel.report.html import Markup, element, join, table, titled_section
from eyelevel.report.sections.timeouts import censored_details, censored_json
from eyelevel.report.statistic_cells import (
    compared_json,
    estimate_cell,
    tested_cell,
    tested_json,
    undetermined_cell,
)

COLUMNS = (
    "site", "network", "stack", "reference", "Welch's ANOVA, p", "Kruskal-Wallis, p",
    "Games-Howell, 95 % interval", "Mann-Whitney, p", "Cliff's delta, 95 % interval",
    "mean difference, 95 % interval",
)  # fmt: skip

NOTE = (
    "The same loads as above, each stack against its reference. Welch's ANOVA compares means, "
    "as the published one does, and lets variances differ; it assumes that runs are "
    "independent and about normal. Kruskal-Wallis and Mann-Whitney compare ranks, with a "
    "timeout as the slowest, and assume only that runs are independent. Games-Howell gives the "
    "difference of means with an interval and a p that hold for all pairs of stacks on the "
    "site together; its assumptions are Welch's. Cliff's delta says how much more often a load "
    "is slower than one of the reference than faster: −1 means that every load is faster, 0 "
    "that both happen equally often, +1 that every load is slower. The mean difference is "
    "within blocks; from ten blocks on it has a bootstrap interval, which assumes that pairs "
    "are independent. It is the only one that uses the blocks. None is corrected for the "
    "number of sites, networks and metrics, and the report bases no claim on them."
)


def robustness_section(contents: Contents) -> Markup:
    """Nothing for a run in which no site has two blocks."""
    tests = contents.site_tests
    if not tests:
        return Markup("")
    blocks = []
    for metric in dict.fromkeys(test.metric for test in tests):
        rows = [_row(contents, test) for test in tests if test.metric == metric]
        caption = f"{title_of(metric)}: further tests, by site"
        content = table(caption, list(COLUMNS), rows, class_="cells tests")
        blocks.append(element("details", element("summary", title_of(metric)), content))
    if left_out := sum(cell.pairs > 1 for cell in contents.cells) - len(tests):
        text = (
            f"{left_out} comparisons are left out: in a study this large, only the largest "
            "gains and losses of the primary metric are tested. The package eyelevel.stats has "
            "every test for use in a notebook."
        )
        blocks.append(element("p", text, class_="note"))
    note = NOTE
    if contents.may_stop:
        note += " None of these allows for a study that stops once it has seen enough."
    return titled_section(
        "tests",
        "Further tests, site by site",
        *blocks,
        element("p", note, class_="note"),
        censored_details(contents),
    )


def robustness_json(contents: Contents) -> JsonObject:
    """The same for machines: an object a comparison, what is undetermined null with its reason."""
    return {
        "site_tests": [
            {
                **compared_json(tests, "site"),
                "welch_anova": tested_json(tests.welch_anova),
                "kruskal_wallis": tested_json(tests.kruskal_wallis),
                "games_howell": tests.games_howell.as_json(),
                "mann_whitney": tested_json(tests.mann_whitney),
                "cliffs_delta": tests.cliffs_delta.as_json(),
                "mean_difference": tests.mean_difference.as_json(),
            }
            for tests in contents.site_tests
        ],
        **censored_json(contents),
    }


def _row(contents: Contents, tests: SiteTests) -> list[object]:
    limit_s = contents.limit_s

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
        tested_cell(tests.welch_anova, "F"),
        tested_cell(tests.kruskal_wallis, "H"),
        howell,
        undetermined_cell(whitney.reason) if whitney.p is None else format_p(whitney.p),
        estimate_cell(tests.cliffs_delta, _format_delta),
        estimate_cell(tests.mean_difference, duration),
    ]


def _format_delta(value: float) -> str:
    return format_number(value, "+.2f")
