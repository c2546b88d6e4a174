"""What DevTools' events say of the newest document, to hold its timings against (pure).

Times are CLOCK_MONOTONIC seconds, as Chromium stamps these events, but for paints in the
performance timeline, which are wall time.
"""

from __future__ import annotations

from eyelevel.browser.cross_check import BrowserEvents
from eyelevel.browser.page_answer import PageAnswer
from eyelevel.json_types import JsonObject

LARGEST_MAX = 1000
"""Of one document; the browser buffers 150."""


class DocumentEvents:
    """Takes the events of the page's session; `lifecycle_s` are the newest document's own."""

    def __init__(self, main_frame: str) -> None:
        self.lifecycle_s: dict[str, float] = {}
        self._main_frame = main_frame
        self._loader = ""
        self._response: tuple[str, float] | None = None
        self._largest_wall_s: list[float] = []

    def handle_event(self, method: str, parameters: JsonObject) -> None:
        """Take one event of the page's session."""
        if method == "Page.lifecycleEvent" and parameters["frameId"] == self._main_frame:
            if parameters["name"] == "init":
                self._loader = parameters["loaderId"]
                self.lifecycle_s.clear()
                self._largest_wall_s.clear()
            self.lifecycle_s.setdefault(parameters["name"], parameters["timestamp"])
        elif method == "Network.responseReceived":
            self._take_response(parameters)
        elif method == "PerformanceTimeline.timelineEventAdded":
            event = parameters["event"]
            largest = event.get("lcpDetails")
            room = len(self._largest_wall_s) < LARGEST_MAX
            if event["frameId"] == self._main_frame and largest is not None and room:
                self._largest_wall_s.append(event["time"])

    def since(self, start_s: float, answer: PageAnswer) -> BrowserEvents:
        """The newest document's moments from its navigation start, `start_s`.

        A candidate for the largest paint may come while the page is asked: the one that the page
        told is looked for.
        """

        def ms(at_s: float | None) -> float | None:
            return None if at_s is None else (at_s - start_s) * 1e3

        lcp_ms = answer["lcp"] or 0.0
        largest = [at_s * 1e3 - answer["timeOrigin"] for at_s in self._largest_wall_s]
        loader, response_s = self._response or ("", None)
        return BrowserEvents(
            load_ms=ms(self.lifecycle_s.get("load")),
            dom_content_loaded_ms=ms(self.lifecycle_s.get("DOMContentLoaded")),
            response_ms=ms(response_s) if loader == self._loader else None,
            first_contentful_paint_ms=ms(self.lifecycle_s.get("firstContentfulPaint")),
            largest_contentful_paint_ms=min(
                largest, key=lambda at_ms: abs(at_ms - lcp_ms), default=None
            ),
        )

    def _take_response(self, event: JsonObject) -> None:
        # A document's request has its loader's name. A cached answer has the times of another load.
        response, loader = event["response"], event["requestId"]
        cached = ("fromServiceWorker", "fromDiskCache", "fromPrefetchCache")
        if loader != event.get("loaderId") or event.get("frameId") != self._main_frame:
            return
        timing = response.get("timing") or {}
        since_ms = timing.get("receiveHeadersStart", -1.0)
        known = since_ms >= 0 and not any(response.get(name) for name in cached)
        at_s = timing["requestTime"] + since_ms / 1e3 if known else None
        self._response = (loader, at_s) if at_s is not None else None
