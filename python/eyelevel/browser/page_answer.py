"""Query a page's timings after its load, and validate them before use (pure).

The script runs in a separate world: Chromium's isolated world, Firefox's sandbox. It shares the
document with the page, but no globals and no prototypes, so that the page cannot replace what the
script calls. It reads the buffered performance entries, which come from the browser, synchronously:
it waits for no promise or timer, which a page could block or clear.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from eyelevel.base.errors import PageAnswerError

WORLD = "eyelevel"
"""Name of the isolated world and of the sandbox, invisible to pages."""

DAY_MS = 86_400_000.0
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
    const can = e.startTime >= 0 && e.duration >= 0 && e.startTime + e.duration <= {DAY_MS};
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

Moment = Annotated[float, Field(ge=0, le=DAY_MS, allow_inf_nan=False)]
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


def is_full(count: int, kind: str) -> bool:
    """Return whether the browser's buffer for this entry type was full, so entries are missing."""
    return count >= BUFFERED_MAX[kind]
