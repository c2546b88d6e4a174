"""Where the page's time zero lies on the monotonic clock (pure)."""

from __future__ import annotations

from typing import Any


class NavigationClock:
    """Collects the navigation starts of the main frame's documents; monotonic seconds.

    A page may redirect by script: then time zero is the first document's navigation start, while
    the page's own timings count from the last one's.
    """

    def __init__(self, navigated_s: float) -> None:
        self._navigated_s = navigated_s
        self._asked_s: float | None = None
        self._starts_s: list[float] = []
        self.documents = 0

    def handle_request(self, event: dict[str, Any]) -> None:
        """Take `Network.requestWillBeSent`; the first after the navigation is the document's."""
        if self._asked_s is None:
            self._asked_s = event["timestamp"]

    def handle_new_document(self) -> None:
        """The main frame shows another document."""
        self.documents += 1

    def handle_metrics(self, reply: dict[str, Any]) -> None:
        """Take an answer to `Performance.getMetrics`."""
        for metric in reply.get("result", {}).get("metrics", ()):
            known = (0, *self._starts_s)
            if metric["name"] == "NavigationStart" and metric["value"] not in known:
                self._starts_s.append(metric["value"])

    @property
    def first_start_s(self) -> float:
        """Time zero.

        A document that redirects by script at once may be gone before its start could be asked
        for; then the moment of its request stands in, 1 to 2 ms later. Without any request it is
        the moment of the command to navigate.
        """
        if self._asked_s is None:
            return self._navigated_s
        asked_s = self._asked_s
        return next((start_s for start_s in self._starts_s if start_s <= asked_s), asked_s)

    @property
    def last_start_s(self) -> float:
        """Time zero of the last document's own timings."""
        return self._starts_s[-1] if self._starts_s else self.first_start_s
