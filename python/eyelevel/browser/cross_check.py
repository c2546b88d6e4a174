"""Compare a page's own timings with the browser's events (pure).

Both come from the browser and from one clock, so they agree up to the delay between a moment and
its event. If they do not, the load is no measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eyelevel.browser.page_timings import PageAnswer

TOLERANCE_MS = 20.0
"""Maximum difference between the two, ms; docs/benchmarks.md has the measurements."""


@dataclass(frozen=True, slots=True)
class BrowserEvents:
    """A document's event times, milliseconds from its navigation start; None if not sent."""

    load_ms: float | None = None
    dom_content_loaded_ms: float | None = None
    response_ms: float | None = None
    first_contentful_paint_ms: float | None = None
    largest_contentful_paint_ms: float | None = None


def differences_ms(answer: PageAnswer, events: BrowserEvents) -> dict[str, float]:
    """Return the difference of each time that both report, ms, by the field names of `Navigation`.

    Load events are sent during or after the page's handlers: a time within these counts as 0.
    """
    spans = {
        "page_load_time_ms": (answer["loadStart"], answer["load"], events.load_ms),
        "dom_content_loaded_ms": (
            answer["domContentLoadedStart"],
            answer["domContentLoaded"],
            events.dom_content_loaded_ms,
        ),
        "time_to_first_byte_ms": (answer["response"], answer["response"], events.response_ms),
        "first_contentful_paint_ms": (
            answer["firstContentfulPaint"],
            answer["firstContentfulPaint"],
            events.first_contentful_paint_ms,
        ),
        "largest_contentful_paint_ms": (
            answer["lcp"],
            answer["lcp"],
            events.largest_contentful_paint_ms,
        ),
    }
    return {
        name: round(max(start_ms - event_ms, event_ms - end_ms, 0.0), 3)
        for name, (start_ms, end_ms, event_ms) in spans.items()
        if start_ms is not None and end_ms is not None and event_ms is not None
    }


def disagreement(answer: PageAnswer, events: BrowserEvents) -> str:
    """Return how the two disagree, as one clause; "" if they agree.

    A load event that only one of them has is a disagreement, too.
    """
    for name, reported, seen in (
        ("load event", answer["load"], events.load_ms),
        ("first byte", answer["response"], events.response_ms),
    ):
        if reported is None and seen is not None:
            return f"the browser's events have a {name}, the page's own timings have none"
    if answer["load"] is not None and events.load_ms is None:
        return "the page's own timings have a load event, the browser's events have none"
    return too_far_apart(differences_ms(answer, events))


def too_far_apart(differences: Mapping[str, float]) -> str:
    """Return the first difference above the tolerance, as one clause; "" if there is none."""
    for name, difference_ms in differences.items():
        if difference_ms > TOLERANCE_MS:
            return (
                f"the page's own timings and the browser's events differ by {difference_ms:g} ms "
                f"in `{name}`, above {TOLERANCE_MS:g} ms"
            )
    return ""
