"""The page of `eyelevel compare`: how each gain changed between two runs, and the basis."""

from collections import Counter
from collections.abc import Sequence

from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME
from eyelevel.analysis.two_runs import RunComparison, RunVerdict
from eyelevel.report.html import Markup, element, make_titled_section, table
from eyelevel.report.shell import shell

NOTHING_UNLIKE = "The records name nothing else that differs between the two runs."


def comparison_page(old: str, new: str, comparison: RunComparison) -> str:
    """Return the page as text; `old` and `new` name the runs."""
    title = f"What changed from {old} to {new}?"
    counted = Counter(verdict.status for verdict in comparison.verdicts)
    text = ", ".join(f"{count} {status}" for status, count in counted.items())
    main = element(
        "main",
        element("header", element("h1", title), element("p", f"Comparisons: {text}.")),
        make_titled_section(
            "verdicts",
            "Each comparison",
            table(
                f"How {METRICS_BY_NAME[comparison.metric].title} changed",
                ("verdict", "what was found"),
                [_row(each) for each in comparison.verdicts],
            ),
            *_sentences((comparison.assumption, comparison.level)),
        ),
        make_titled_section(
            "unlike", "What else differs", *_list_differences(comparison.differences)
        ),
    )
    return shell(title, main, {"specs": {}}, "probe.js")


def _row(verdict: RunVerdict) -> tuple[object, ...]:
    return verdict.status, element("span", verdict.message, class_="long")


def _sentences(texts: Sequence[str]) -> list[Markup]:
    return [element("p", text, class_="note") for text in texts if text]


def _list_differences(differences: Sequence[str]) -> list[Markup]:
    if not differences:
        return [element("p", NOTHING_UNLIKE)]
    return [element("ul", *(element("li", each) for each in differences))]
