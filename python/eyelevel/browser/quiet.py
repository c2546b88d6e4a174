"""When a load is over (pure: the caller gives the time)."""

from __future__ import annotations

from typing import Literal

Verdict = Literal["loading", "complete", "capped", "timeout"]


class QuietRule:
    """The same end for every stack: nothing requested or painted for `quiet_s` after the load.

    All times are monotonic seconds. A request under way holds the end back, up to `cap_s` after the
    load event; without a load event the load ends `timeout_s` after the navigation.
    """

    def __init__(self, navigated_s: float, timeout_s: float, quiet_s: float, cap_s: float) -> None:
        self._timeout_at_s = navigated_s + timeout_s
        self._quiet_s = quiet_s
        self._cap_s = cap_s
        self._load_event_s: float | None = None
        self._active_s = navigated_s

    def handle_activity(self, now_s: float) -> None:
        """A request began or ended, or the picture changed."""
        self._active_s = max(self._active_s, now_s)

    def handle_load_event(self, now_s: float) -> None:
        """The main document's load event fired."""
        self._load_event_s = now_s
        self.handle_activity(now_s)

    def handle_new_document(self, now_s: float) -> None:
        """The page replaced its document: the load event to wait for is the new one's."""
        self._load_event_s = None
        self.handle_activity(now_s)

    def verdict(self, now_s: float, requests_open: bool) -> Verdict:
        """Whether the load is over at `now_s`."""
        if self._load_event_s is None:
            return "timeout" if now_s >= self._timeout_at_s else "loading"
        if not requests_open and now_s >= self._active_s + self._quiet_s:
            return "complete"
        if now_s >= self._load_event_s + self._cap_s:
            return "capped"
        return "loading"

    def next_deadline(self, requests_open: bool) -> float:
        """When to ask again if nothing happens until then."""
        if self._load_event_s is None:
            return self._timeout_at_s
        cap_at_s = self._load_event_s + self._cap_s
        return cap_at_s if requests_open else min(cap_at_s, self._active_s + self._quiet_s)
