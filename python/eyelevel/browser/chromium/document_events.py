"""Collect DevTools' events of the newest document, to cross-check its timings (pure).

Times are CLOCK_MONOTONIC seconds, as Chromium stamps these events, except paints in the performance
timeline, which have wall time.
"""

from __future__ import annotations

from eyelevel.base.json_types import JsonObject
from eyelevel.browser.cross_check import BrowserEvents
from eyelevel.browser.page_answer import PageAnswer

EVENTS_MAX = 1000
"""Maximum number of events kept per kind and document; browsers buffer 150 paints."""

REPEATED = ("DOMContentLoaded", "load")
"""Events that fire again if the page rewrites its document (`document.open`); the page's
timings have the first one.
"""


class DocumentEvents:
    """Collects events of the page's session; `lifecycle_s` has those of the newest document."""

    def __init__(self, main_frame: str) -> None:
        self.lifecycle_s: dict[str, float] = {}
        self._all_s: dict[str, list[float]] = {}
        self._main_frame = main_frame
        self._loader = ""
        self._response: tuple[str, float] | None = None
        self._largest_wall_s: list[float] = []

    def handle_event(self, method: str, parameters: JsonObject) -> None:
        """Handle one event of the page's session."""
        if method == "Page.lifecycleEvent" and parameters["frameId"] == self._main_frame:
            # A rewritten document sends `init` again, but keeps its loader id and its timings.
            if parameters["name"] == "init" and parameters["loaderId"] != self._loader:
                self._loader = parameters["loaderId"]
                self.lifecycle_s.clear()
                self._all_s.clear()
                self._largest_wall_s.clear()
            self.lifecycle_s.setdefault(parameters["name"], parameters["timestamp"])
            if parameters["name"] in REPEATED:
                of_name = self._all_s.setdefault(parameters["name"], [])
                of_name[EVENTS_MAX:] = [parameters["timestamp"]]
        elif method == "Network.responseReceived":
            self._take_response(parameters)
        elif method == "PerformanceTimeline.timelineEventAdded":
            event = parameters["event"]
            largest = event.get("lcpDetails")
            room = len(self._largest_wall_s) < EVENTS_MAX
            if event["frameId"] == self._main_frame and largest is not None and room:
                self._largest_wall_s.append(event["time"])

    def since(self, start_s: float, answer: PageAnswer) -> BrowserEvents:
        """Return the newest document's event times relative to its navigation start, `start_s`.

        Some events occur more than once (the load event of a rewritten document, candidates for the
        largest paint); of those the one nearest to the page's own timing is returned.
        """

        def ms(at_s: float | None) -> float | None:
            return None if at_s is None else (at_s - start_s) * 1e3

        def nearest(times_ms: list[float], said_ms: float | None) -> float | None:
            return min(times_ms, key=lambda at_ms: abs(at_ms - (said_ms or 0.0)), default=None)

        def repeated_ms(name: str) -> list[float]:
            return [(at_s - start_s) * 1e3 for at_s in self._all_s.get(name, ())]

        largest_ms = [at_s * 1e3 - answer["timeOrigin"] for at_s in self._largest_wall_s]
        loader, response_s = self._response or ("", None)
        return BrowserEvents(
            load_ms=nearest(repeated_ms("load"), answer["load"]),
            dom_content_loaded_ms=nearest(
                repeated_ms("DOMContentLoaded"), answer["domContentLoaded"]
            ),
            response_ms=ms(response_s) if loader == self._loader else None,
            first_contentful_paint_ms=ms(self.lifecycle_s.get("firstContentfulPaint")),
            largest_contentful_paint_ms=nearest(largest_ms, answer["lcp"]),
        )

    def _take_response(self, event: JsonObject) -> None:
        # A document's request id is its loader id. A cached response has the times of another load.
        response, loader = event["response"], event["requestId"]
        cached = ("fromServiceWorker", "fromDiskCache", "fromPrefetchCache")
        if loader != event.get("loaderId") or event.get("frameId") != self._main_frame:
            return
        timing = response.get("timing") or {}
        since_ms = timing.get("receiveHeadersStart", -1.0)
        known = since_ms >= 0 and not any(response.get(name) for name in cached)
        at_s = timing["requestTime"] + since_ms / 1e3 if known else None
        self._response = (loader, at_s) if at_s is not None else None
