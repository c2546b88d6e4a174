"""Synthetic answers of a browser about a page's timings."""

from typing import Any

from eyelevel.browser.page_timings import PageAnswer, check_answer

ORIGIN_MS = 1_795_413_501_169.2

ANSWER: dict[str, Any] = {
    "timeOrigin": ORIGIN_MS,
    "loadStart": 498.0,
    "load": 500.0,
    "domContentLoadedStart": 290.0,
    "domContentLoaded": 300.0,
    "response": 80.0,
    "firstPaint": 120,
    "firstContentfulPaint": 120,
    "lcp": 160,
    "lcpElement": "img#hero",
    "lcpUrl": "https://a.example/hero.jpg",
    "lcpLoaded": 155.0,
    "shifts": [[100.0, 0.1, False]],
    "tasks": [[200.0, 60.0]],
    "largestCount": 2,
    "timings": [["mark", "hero", 150.0, 0.0], ["measure", "render", 10.0, 40.0]],
    "timerGaps": [[210.0, 70.0]],
    "effectiveConnectionType": "4g",
}


def answer(**changed: Any) -> PageAnswer:
    """The checked answer, with something else in it."""
    return check_answer({**ANSWER, **changed})
