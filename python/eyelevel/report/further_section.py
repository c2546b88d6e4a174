"""The loads of each site once more, by tests that assume other things than the published ANOVA."""

import math
from collections.abc import Callable
from typing import Any

from eyelevel.report.contents import Contents
from eyelevel.report.html import Markup, element, join, table
from eyelevel.report.metrics_shown import title_of
from eyelevel.report.words import milliseconds
from eyelevel.stats import DifferenceTest, SiteTests

P_LEAST = 1e-10
"""No assumption holds so well that a smaller one could be told from it."""

COLUMNS = (
    "site", "network", "stack", "Welch's ANOVA, p", "Kruskal-Wallis, p",
    "Games-Howell, 95 % interval", "Mann-Whitney, p", "Cliff's delta, 95 % interval",
    "mean difference, 95 % interval",
)  # fmt: skip

NOTE = (
    "The same loads as above, each stack against the reference. Welch's ANOVA compares means, as "
    "the published one does, and lets variances differ; it assumes runs that are independent and "
    "about normal. "
    "Kruskal-Wallis and Mann-Whitney compare ranks and need independent runs only, a timeout being "
    "the slowest. Games-Howell is the difference of means with an interval and a p that hold for "
    "all pairs of stacks of the site together, assuming what Welch's does. Cliff's delta is how "
    "much more often a load is slower than one of the reference than faster: −1 is every load "
    "faster, 0 as often, +1 every load slower. The mean difference is within blocks, with a "
    "bootstrap interval from ten blocks on, for which pairs are to be independent. Only the last "
    "one uses that runs come in blocks. None is corrected for the number of sites, networks and "
    "metrics, and the report claims nothing by them."
)


def further_section(contents: Contents) -> Markup:
    """Nothing for a run in which no site has two blocks."""
    tests = contents.site_tests
    if not tests:
        return Markup("")
    blocks = []
    for metric in dict.fromkeys(each.metric for each in tests):
        rows = [_row(contents, each) for each in tests if each.metric == metric]
        caption = f"{title_of(metric)}: further tests, by site"
        content = table(caption, list(COLUMNS), rows, class_="cells tests")
        blocks.append(element("details", element("summary", title_of(metric)), content))
    if left_out := len(contents.cells) - len(tests):
        text = (
            f"{left_out} comparisons are left out: with one block there is nothing to test, and of "
            "a large study only the largest gains and losses of the primary metric are tested. "
            "`eyelevel.stats` has each test for a notebook."
        )
        blocks.append(element("p", text, class_="note"))
    note = NOTE
    if contents.plan.get("stop"):
        note += " None of these allows for a study that stops when it has seen enough."
    return element(
        "section",
        element("h2", "Further tests, site by site", id="tests"),
        *blocks,
        element("p", note, class_="note"),
        aria_labelledby="tests",
    )


def further_as_json(contents: Contents) -> list[dict[str, Any]]:
    """The same for machines: an object a comparison, what is undetermined null with its reason."""
    return [
        {
            "site": each.site,
            "network": each.network,
            "stack": each.arm,
            "metric": each.metric,
            "welch_anova": _test_json(each.welch_anova),
            "kruskal_wallis": _test_json(each.kruskal_wallis),
            "games_howell": _interval_json(each.games_howell.value, each.games_howell),
            "mann_whitney": {
                "statistic": each.mann_whitney.u,
                "p": each.mann_whitney.p,
                "undetermined_because": None if each.mann_whitney.p else each.mann_whitney.reason,
            },
            "cliffs_delta": _interval_json(each.mann_whitney.delta, each.mann_whitney, p=False),
            "mean_difference": _interval_json(
                each.mean_difference.value, each.mean_difference, p=False
            ),
        }
        for each in contents.site_tests
    ]


def _row(contents: Contents, each: SiteTests) -> list[object]:
    limit_s = contents.plan["browser"]["timeout_s"]

    def duration(value: float) -> str:
        return signed_ms(value, limit_s)

    pair, dominance = each.games_howell, each.mann_whitney
    howell = interval_cell(pair.value, pair.low, pair.high, pair.reason, duration)
    if pair.p is not None:
        howell = join([howell, element("small", said_p(pair.p))])
    difference = each.mean_difference
    return [
        each.site,
        each.network,
        each.arm,
        test_cell(each.welch_anova, "F"),
        test_cell(each.kruskal_wallis, "H"),
        howell,
        _undetermined(dominance.reason) if dominance.p is None else p_value(dominance.p),
        interval_cell(dominance.delta, dominance.low, dominance.high, dominance.reason, _delta),
        interval_cell(difference.value, difference.low, difference.high, difference.reason,
                      duration),
    ]  # fmt: skip


def test_cell(test: DifferenceTest, letter: str) -> object:
    """A p value above its statistic, or why there is none."""
    if test.p is None or test.statistic is None:
        return _undetermined(test.reason)
    freedom = ", ".join(f"{each:.3g}" for each in test.degrees_of_freedom)
    return join([p_value(test.p), element("small", f"{letter}({freedom}) = {test.statistic:.3g}")])


def interval_cell(
    value: float | None,
    low: float | None,
    high: float | None,
    reason: str,
    say: Callable[[float], str],
) -> object:
    """A value above its interval, or why there is none."""
    if value is None:
        return _undetermined(reason)
    if low is None or high is None:
        return join([say(value), element("small", reason)])
    return join([say(value), element("small", f"{say(low)} to {say(high)}")])


def p_value(p: float) -> str:
    """Two digits; of the least ones nothing is known but that they are small."""
    return f"{P_LEAST:g} or less" if p <= P_LEAST else f"{p:.2g}"


def said_p(p: float) -> str:
    """The same in a sentence: `p = 0.03`."""
    return f"p ≤ {P_LEAST:g}" if p <= P_LEAST else f"p = {p:.2g}"


def signed_ms(value: float, limit_s: float) -> str:
    """A difference of times."""
    if math.isinf(value):
        return "unbounded"
    return ("+" if value > 0 else "") + milliseconds(value, limit_s)


def _delta(value: float) -> str:
    text = f"{value:+.2f}"
    return "0.00" if float(text) == 0 else text.replace("-", "−")


def _undetermined(reason: str) -> Markup:
    return join(["undetermined", element("small", reason)])


def _test_json(test: DifferenceTest) -> dict[str, Any]:
    return {
        "statistic": test.statistic,
        "degrees_of_freedom": list(test.degrees_of_freedom),
        "p": test.p,
        "undetermined_because": test.reason or None,
    }


def _interval_json(value: float | None, each: Any, p: bool = True) -> dict[str, Any]:
    found = {"value": value, "low": each.low, "high": each.high}
    found |= {"p": each.p} if p else {}
    return found | {"undetermined_because": each.reason or None}
