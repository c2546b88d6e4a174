"""Convert a page's timings to the clock of its first navigation, and find its zero (pure).

Query a page's timings after its load, and validate them before use (pure).

The script runs in a separate world: Chromium's isolated world, Firefox's sandbox. It shares the
document with the page, but no globals and no prototypes, so that the page cannot replace what the
script calls. It reads the buffered performance entries, which come from the browser, synchronously:
it waits for no promise or timer, which a page could block or clear.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Protocol

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from eyelevel.base.errors import PageAnswerError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.observations import Navigation
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


def has_no_server(url: str) -> bool:
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
    shifts_known = not _is_full(len(answer["shifts"]), "layout-shift")
    tasks_known = not _is_full(len(answer["tasks"]), "longtask")
    largest_known = not _is_full(answer["largestCount"], "largest-contentful-paint")
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
        if not all(0 <= at_ms <= _DAY_MS for at_ms in times):
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


WORLD = "eyelevel"
"""Name of the isolated world and of the sandbox, invisible to pages."""

_DAY_MS = 86_400_000.0
TEXT_CHARS_MAX = 500
URL_CHARS_MAX = 65_536
ENTRIES_MAX = 1000
"""Maximum length of a list; browsers buffer at most 200 entries of a type, and our timer stores
this many gaps.
"""

TIMINGS_MAX = 100
TIMING_CHARS_MAX = 100
"""Maximum number of user timings, of which each name's first is kept, and maximum length of a
name.
"""

BUFFERED_MAX = {"largest-contentful-paint": 150, "layout-shift": 150, "longtask": 200}
"""Number of entries of a type that Chromium buffers. Later ones are lost, so values computed
from a full buffer are unknown (checked in `tests/system/browser`).
"""

SCRIPT = f"""
(() => {{
  const buffered = (type) => {{
    try {{
      const observer = new PerformanceObserver(() => {{}});
      observer.observe({{ type, buffered: true }});
      const entries = observer.takeRecords();
      observer.disconnect();
      return entries;
    }} catch {{ return []; }}
  }};
  const text = (value, most) =>
    typeof value === 'string' && value ? value.slice(0, most).toWellFormed() : null;
  // A form's fields hide its properties, whoever asks; they do not hide the getters themselves.
  const get = (prototype, name, of) =>
    Object.getOwnPropertyDescriptor(prototype, name).get.call(of);
  const describe = (element) => {{
    if (!element) return null;
    const id = get(Element.prototype, 'id', element);
    return get(Element.prototype, 'tagName', element).toLowerCase() + (id ? '#' + id : '');
  }};
  const [paints, largest, shifts, tasks] =
    ['paint', 'largest-contentful-paint', 'layout-shift', 'longtask'].map(buffered);
  const timings = new Map();
  for (const e of [...buffered('mark'), ...buffered('measure')]) {{
    const key = `${{e.entryType}}:${{e.name}}`;
    const fits = e.name.length <= {TIMING_CHARS_MAX} && e.name.isWellFormed();
    const can = e.startTime >= 0 && e.duration >= 0 && e.startTime + e.duration <= {_DAY_MS};
    if (fits && can && timings.size < {TIMINGS_MAX} && !timings.has(key))
      timings.set(key, [e.entryType, e.name, e.startTime, e.duration]);
  }}
  const painted = (name) => paints.find((e) => e.name === name)?.startTime ?? null;
  const navigation = performance.getEntriesByType('navigation')[0];
  const lcp = largest.at(-1);
  return {{
    timeOrigin: performance.timeOrigin,
    loadStart: navigation?.loadEventStart || null,
    load: navigation?.loadEventEnd || null,
    domContentLoadedStart: navigation?.domContentLoadedEventStart || null,
    domContentLoaded: navigation?.domContentLoadedEventEnd || null,
    response: navigation?.responseStart || null,
    firstPaint: painted('first-paint'),
    firstContentfulPaint: painted('first-contentful-paint'),
    lcp: lcp ? lcp.startTime : null,
    lcpElement: lcp ? text(describe(lcp.element) ?? lcp.url, {TEXT_CHARS_MAX}) : null,
    lcpUrl: text(lcp?.url, {URL_CHARS_MAX}),
    lcpLoaded: lcp?.loadTime || null,
    shifts: shifts.map((e) => [e.startTime, e.value, e.hadRecentInput]),
    tasks: tasks.map((e) => [e.startTime, e.duration]),
    largestCount: largest.length,
    timings: [...timings.values()],
    timerGaps: Object.hasOwn(globalThis, 'timerGaps') ? globalThis.timerGaps : [],
    effectiveConnectionType: text(navigator.connection?.effectiveType, {TEXT_CHARS_MAX}),
  }};
}})()
"""

Moment = Annotated[float, Field(ge=0, le=_DAY_MS, allow_inf_nan=False)]
"""Milliseconds from the document's navigation start."""

_Text = Annotated[str, Field(max_length=TEXT_CHARS_MAX)]
_Timing = tuple[
    Literal["mark", "measure"],
    Annotated[str, Field(max_length=TIMING_CHARS_MAX)],
    Moment,
    Moment,
]
"""A user timing: its type, its name, start and duration."""
_Score = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


@with_config(ConfigDict(strict=True, extra="forbid"))
class PageAnswer(TypedDict):
    """Result of `SCRIPT`; times in milliseconds from the document's navigation start."""

    timeOrigin: Annotated[float, Field(ge=0, le=1e14, allow_inf_nan=False)]
    loadStart: Moment | None
    load: Moment | None
    domContentLoadedStart: Moment | None
    domContentLoaded: Moment | None
    response: Moment | None
    firstPaint: Moment | None
    firstContentfulPaint: Moment | None
    lcp: Moment | None
    lcpElement: _Text | None
    lcpUrl: Annotated[str, Field(max_length=URL_CHARS_MAX)] | None
    lcpLoaded: Moment | None
    shifts: Annotated[list[tuple[Moment, _Score, bool]], Field(max_length=ENTRIES_MAX)]
    tasks: Annotated[list[tuple[Moment, Moment]], Field(max_length=ENTRIES_MAX)]
    largestCount: Annotated[int, Field(ge=0, le=ENTRIES_MAX)]
    timings: Annotated[list[_Timing], Field(max_length=TIMINGS_MAX)]
    timerGaps: Annotated[list[tuple[Moment, Moment]], Field(max_length=ENTRIES_MAX)]
    effectiveConnectionType: _Text | None


_ANSWER = TypeAdapter(PageAnswer)


def check_answer(answer: object) -> PageAnswer:
    """Validate the result of `SCRIPT`; raises `PageAnswerError` with the place of the fault."""
    try:
        # Validate it as JSON: strict validation of Python objects rejects lists as tuples.
        return _ANSWER.validate_json(json.dumps(answer))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "answer"
        raise PageAnswerError(
            f"the page's own timings cannot be read: {place[:80]}: {first['msg']}"
        ) from error


def _is_full(count: int, kind: str) -> bool:
    """Return whether the browser's buffer for this entry type was full, so entries are missing."""
    return count >= BUFFERED_MAX[kind]
