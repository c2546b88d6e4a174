"""Query a page after its load, and check the answer before use (pure).

The script runs in a world of its own: Chromium's isolated world, Firefox's sandbox. That shares the
document with the page, but no global and no prototype, so that what a page replaced is not what
the script calls. It reads the buffered performance entries, which come from the browser, at once:
it waits for no promise and no timer, which a page could hold up or clear.
"""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from eyelevel.errors import PageAnswerError

WORLD = "eyelevel"
"""The isolated world's and the sandbox's name; pages see nothing of it."""

TEXT_CHARS_MAX = 500
URL_CHARS_MAX = 65_536
ENTRIES_MAX = 1000
"""The most entries in a list; browsers buffer at most 200 of a type, and our timer keeps this many
gaps."""

BUFFERED_MAX = {"largest-contentful-paint": 150, "layout-shift": 150, "longtask": 200}
"""How many entries of a type Chromium buffers. What came after is lost, so that a full buffer
makes what is computed from it unknown (asked of Chromium in `tests/system/browser`)."""

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
    timerGaps: Object.hasOwn(globalThis, 'timerGaps') ? globalThis.timerGaps : [],
    effectiveConnectionType: text(navigator.connection?.effectiveType, {TEXT_CHARS_MAX}),
  }};
}})()
"""

DAY_MS = 86_400_000.0

Moment = Annotated[float, Field(ge=0, le=DAY_MS, allow_inf_nan=False)]
"""Milliseconds from the document's navigation start."""

_Text = Annotated[str, Field(max_length=TEXT_CHARS_MAX)]
_Score = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


@with_config(ConfigDict(strict=True, extra="forbid"))
class PageAnswer(TypedDict):
    """`SCRIPT`'s answer; times in milliseconds from the document's navigation start."""

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
    timerGaps: Annotated[list[tuple[Moment, Moment]], Field(max_length=ENTRIES_MAX)]
    effectiveConnectionType: _Text | None


_ANSWER = TypeAdapter(PageAnswer)


def check_answer(answer: object) -> PageAnswer:
    """`answer` as JSON has it, if it is one; raises `PageAnswerError`, which says what is not."""
    try:
        # As JSON, of which a strict check knows that its lists may be pairs.
        return _ANSWER.validate_json(json.dumps(answer))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "answer"
        raise PageAnswerError(
            f"the page's own timings cannot be read: {place[:80]}: {first['msg']}"
        ) from error


def is_full(count: int, kind: str) -> bool:
    """Return whether the browser's buffer of this type of entry was full, so that some are
    missing."""
    return count >= BUFFERED_MAX[kind]
