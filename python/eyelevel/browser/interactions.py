"""Read the interactions of a page's user by Event Timing, as web-vitals does (pure).

An interaction is a click or a key, whose events the browser groups (`interactionId`). Its duration
is that of the longest, from the input to the next frame that was presented after all handlers,
rounded to 8 ms; its other times are those of the event with the most work. An interaction of less
than 16 ms is not reported, unless it is the page's first. Both scripts run in the isolated world of
`page_timings`.
"""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from eyelevel.base.errors import PageAnswerError
from eyelevel.browser.observations import Interaction
from eyelevel.browser.page_timings import Moment

INTERACTIONS_MAX = 200
"""Maximum number of interactions that are kept of a step, which presses 50 keys at most."""

DURATION_MS_MIN = 16
"""The least duration that is reported; a browser takes no smaller `durationThreshold`."""

NAME_CHARS_MAX = 40

OBSERVE_SCRIPT = f"""
(() => {{
  if (Object.hasOwn(globalThis, 'interactions')) return;
  const seen = new Map();
  globalThis.interactions = {{ seen, before: performance.interactionCount ?? 0 }};
  const observe = (type, options) => {{
    new PerformanceObserver((list) => {{
      for (const e of list.getEntries()) {{
        if (!e.interactionId) continue;
        const known = seen.get(e.interactionId);
        if (!known && seen.size >= {INTERACTIONS_MAX}) continue;
        const work = (event) => event.processingEnd - event.processingStart;
        const busiest = known && work(known.busiest) >= work(e) ? known.busiest : e;
        const duration = Math.max(known?.duration ?? 0, e.duration);
        seen.set(e.interactionId, {{ busiest, duration }});
      }}
    }}).observe({{ type, buffered: true, ...options }});
  }};
  observe('event', {{ durationThreshold: {DURATION_MS_MIN} }});
  observe('first-input', {{}});
}})()
"""
"""Begins to collect a document's interactions; once is enough."""

READ_SCRIPT = f"""
(() => {{
  const {{ seen, before }} = globalThis.interactions;
  const now = performance.interactionCount ?? 0;
  const found = [...seen.values()].map(({{ busiest: e, duration }}) => [
    e.name.slice(0, {NAME_CHARS_MAX}), e.startTime, e.processingStart, e.processingEnd, duration,
  ]);
  seen.clear();
  globalThis.interactions.before = now;
  return {{ count: Math.max(now - before, found.length), interactions: found }};
}})()
"""
"""Returns the interactions since it ran last, and how many there were with the unreported ones."""

_Name = Annotated[str, Field(max_length=NAME_CHARS_MAX)]
_Read = tuple[_Name, Moment, Moment, Moment, Moment]


@with_config(ConfigDict(strict=True, extra="forbid"))
class InteractionsAnswer(TypedDict):
    """Result of `READ_SCRIPT`; times in milliseconds from the document's navigation start."""

    count: Annotated[int, Field(ge=0, le=1_000_000)]
    interactions: Annotated[list[_Read], Field(max_length=INTERACTIONS_MAX)]


_ANSWER = TypeAdapter(InteractionsAnswer)


def interactions_from(answer: object, offset_ms: float) -> tuple[tuple[Interaction, ...], int]:
    """Return the interactions of the result of `READ_SCRIPT`, and their number with those that are
    not reported.

    The document began `offset_ms` after the load. Raises `PageAnswerError` with the place of a
    fault.
    """
    try:
        read = _ANSWER.validate_json(json.dumps(answer))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "answer"
        raise PageAnswerError(
            f"the page's interactions cannot be read: {place[:80]}: {first['msg']}"
        ) from error
    return tuple(_interaction(each, offset_ms) for each in read["interactions"]), read["count"]


def _interaction(read: _Read, offset_ms: float) -> Interaction:
    event, start_ms, begin_ms, end_ms, duration_ms = read
    times = start_ms + offset_ms, begin_ms - start_ms, end_ms - begin_ms, duration_ms
    return Interaction(event, *(round(max(each, 0.0), 3) for each in times))
