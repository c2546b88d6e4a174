"""Convert a page's timings to the clock of its first navigation, and find its zero (pure)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from eyelevel.base.errors import PageAnswerError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.observations import Navigation
from eyelevel.browser.page_answer import DAY_MS, PageAnswer, is_full
from eyelevel.plan.user_timings import is_user_timing

STARTS_KEPT = 100

SHIFT_WINDOW_MS_MAX = 5000.0
SHIFT_GAP_MS_MAX = 1000.0
"""Cumulative Layout Shift sums sessions of shifts less than 1 s apart and at most 5 s long, and
takes the largest sum (web.dev/articles/cls).
"""


class PageClock(Protocol):
    """Navigation starts of a load's first and last document, in seconds of any one clock."""

    @property
    def first_start_s(self) -> float:
        """Time zero of the load, seconds."""

    @property
    def last_start_s(self) -> float:
        """Time zero of the last document's own timings, seconds."""

    @property
    def documents(self) -> int:
        """Number of documents that the main frame showed."""


class NavigationClock:
    """Collects the navigation starts of the main frame's documents, in monotonic seconds.

    A page may redirect by script: then time zero is the first document's navigation start, while
    the page's own timings count from the last one's.
    """

    def __init__(self, navigated_s: float) -> None:
        self._navigated_s = navigated_s
        self._request_s: float | None = None
        self._starts_s: list[float] = []
        self.documents = 0

    def handle_request(self, event: JsonObject) -> None:
        """Handle `Network.requestWillBeSent`; the first after the navigation is the document's."""
        if self._request_s is None:
            self._request_s = event["timestamp"]

    def handle_new_document(self) -> None:
        """Count a new document of the main frame."""
        self.documents += 1

    def handle_metrics(self, reply: JsonObject) -> None:
        """Handle a reply to `Performance.getMetrics`."""
        for metric in reply.get("result", {}).get("metrics", ()):
            known = (0, *self._starts_s)
            if metric["name"] == "NavigationStart" and metric["value"] not in known:
                # Keep the first ones and the last: a page can replace its document endlessly.
                self._starts_s[STARTS_KEPT:] = [metric["value"]]

    @property
    def first_start_s(self) -> float:
        """Time zero of the load, seconds.

        A document that redirects by script at once may be gone before its start can be read; then
        the time of its request is used, which is 1 to 2 ms later. Without any request it is the
        time of the navigate command.
        """
        if self._request_s is None:
            return self._navigated_s
        request_s = self._request_s
        return next((start_s for start_s in self._starts_s if start_s <= request_s), request_s)

    @property
    def last_start_s(self) -> float:
        """Time zero of the last document's own timings, seconds."""
        return self._starts_s[-1] if self._starts_s else self.first_start_s


def is_of_no_server(url: str) -> bool:
    """Return whether a document came from no server: `about:blank`, `blob:`, or an error page.

    Its times are not those of the requested page. False for "": no document was shown.
    """
    return bool(url) and not url.startswith(("http://", "https://"))


def navigation_from(
    answer: PageAnswer, clock: PageClock, lifecycle_s: Mapping[str, float]
) -> Navigation:
    """Return the page's timings on the clock of the first navigation.

    `lifecycle_s` are the last document's lifecycle events, monotonic seconds. Values from a full
    entry buffer become None. Raises `PageAnswerError` if a time is before the first navigation.
    """
    offset_ms = (clock.last_start_s - clock.first_start_s) * 1e3

    def since_first(value: float | None) -> float | None:
        return None if value is None else round(value + offset_ms, 3)

    def since_start(event: str, otherwise_ms: float | None) -> float | None:
        # Pages see paint times rounded to 4 ms; lifecycle events are exact.
        if event in lifecycle_s:
            return round((lifecycle_s[event] - clock.first_start_s) * 1e3, 3)
        return since_first(otherwise_ms)

    def spans(pairs: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
        return tuple((start_ms + offset_ms, length_ms) for start_ms, length_ms in pairs)

    shifts = [(at_ms, score) for at_ms, score, after_input in answer["shifts"] if not after_input]
    shifts_known = not is_full(len(answer["shifts"]), "layout-shift")
    tasks_known = not is_full(len(answer["tasks"]), "longtask")
    largest_known = not is_full(answer["largestCount"], "largest-contentful-paint")
    found = Navigation(
        page_load_time_ms=since_first(answer["load"]),
        time_to_first_byte_ms=since_first(answer["response"]),
        first_contentful_paint_ms=since_start(
            "firstContentfulPaint", answer["firstContentfulPaint"]
        ),
        dom_content_loaded_ms=since_first(answer["domContentLoaded"]),
        first_paint_ms=since_start("firstPaint", answer["firstPaint"]),
        largest_contentful_paint_ms=since_first(answer["lcp"]) if largest_known else None,
        largest_contentful_paint_element=answer["lcpElement"] if largest_known else None,
        largest_contentful_paint_url=answer["lcpUrl"] if largest_known else None,
        largest_contentful_paint_loaded_ms=(
            since_first(answer["lcpLoaded"]) if largest_known else None
        ),
        cumulative_layout_shift=round(layout_shift(shifts), 6) if shifts_known else None,
        long_tasks_ms=spans(answer["tasks"]) if tasks_known else None,
        timer_gaps_ms=spans(answer["timerGaps"]),
        user_timings={
            f"{kind}:{name}": round(start_ms + offset_ms if kind == "mark" else duration_ms, 3)
            for kind, name, start_ms, duration_ms in answer["timings"]
        },
        documents=clock.documents,
    )
    for name, value in (*found.as_record().items(), *found.user_timings.items()):
        is_time = name.endswith("_ms") or is_user_timing(name)
        if not is_time or value is None:
            continue
        times = sum(value, ()) if isinstance(value, tuple) else (value,)
        if not all(0 <= at_ms <= DAY_MS for at_ms in times):
            raise PageAnswerError(f"the page's own timings cannot be: `{name}` is out of bounds")
    return found


def layout_shift(shifts: Sequence[tuple[float, float]]) -> float:
    """Return the Cumulative Layout Shift of `(start_ms, score)` pairs in order of time."""
    largest = total = 0.0
    started_ms = last_ms = -math.inf
    for at_ms, score in shifts:
        if at_ms - last_ms >= SHIFT_GAP_MS_MAX or at_ms - started_ms >= SHIFT_WINDOW_MS_MAX:
            started_ms, total = at_ms, 0.0
        total += score
        last_ms = at_ms
        largest = max(largest, total)
    return largest
