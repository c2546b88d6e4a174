"""The page of `eyelevel validate level`: the differences of two stacks, aspect by aspect.

A run's report has the same tables for the pairs that it compares.
"""

from eyelevel.base.json_types import JsonMapping
from eyelevel.calibration.level.text import WORDS
from eyelevel.report.html import Markup, element, make_titled_section
from eyelevel.report.sections.level import level_tables
from eyelevel.report.shell import shell


def level_page(level: JsonMapping) -> str:
    """Return the page as text; `level` is as in `--json` and `environment.json`."""
    title = f"Are {level['first']} and {level['second']} level?"
    main = element(
        "main",
        element("header", element("h1", title)),
        make_titled_section(
            "level", "Aspect by aspect", *level_tables(level), *_list_failures(level)
        ),
        make_titled_section("words", "What the words mean", _words()),
    )
    return shell(title, main, {"specs": {}}, "probe.js")


def _list_failures(level: JsonMapping) -> list[Markup]:
    """Return the errors of runs; the table has the values of all others."""
    return [element("p", sentence, class_="note") for sentence in level["failed"]]


def _words() -> Markup:
    pairs = (
        element("div", element("dt", word), element("dd", meaning))
        for word, meaning in WORDS.items()
    )
    return element("dl", *pairs)
