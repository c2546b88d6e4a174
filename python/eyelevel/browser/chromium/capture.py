"""Pictures of the loading page: three ways to take them behind one interface.

`docs/decisions/0007-frame-capture.md` says which is the default and what was measured.
"""

from __future__ import annotations

from typing import Protocol

from eyelevel.browser.chromium.devtools import DevTools
from eyelevel.browser.messages import bytes_of
from eyelevel.browser.observations import Frame, LoadSettings
from eyelevel.errors import BrowserMessageError, BrowserStartError
from eyelevel.json_types import JsonObject

FRAMES_IN_FLIGHT_MAX = 120
"""Frames that Chromium may send unacknowledged. Its default of 3 loses a frame whenever this
process is late for 50 ms, the last one of a load included; two seconds of frames do not."""

PICTURES_BYTES_MAX = 1 << 30
"""Pictures kept of one load; a page that animates without end must not fill the memory."""

TRACE_CATEGORY = "disabled-by-default-devtools.screenshot"


class FrameCapture(Protocol):
    """Takes pictures from `start` to `stop`."""

    def start(self, devtools: DevTools, session_id: str, deadline: float) -> None:
        """Start capturing; returns when the first picture can be taken."""

    def handle_event(self, method: str, parameters: JsonObject) -> bool:
        """Take one event of the page's session; True if the picture changed."""

    def stop(self, deadline: float) -> None:
        """End; afterwards `frames` is complete."""

    def frames(self, navigation_start_s: float) -> tuple[Frame, ...]:
        """Return the pictures, each different from the one before; the start's picture is at 0."""

    def final_picture_matches(self, deadline: float) -> bool | None:
        """Return whether a picture taken now equals the last one; None if none can be taken."""

    @property
    def started(self) -> bool:
        """Whether the empty page's picture has come, or none is awaited."""

    @property
    def lost(self) -> int:
        """Pictures that were not kept because the memory set aside for them was full."""


class Screencast:
    """`Page.startScreencast` with PNG: lossless, on damage only.

    A frame's `monotonicTimestamp` is its expected display time in CLOCK_MONOTONIC seconds. Frames
    are encoded in parallel and may arrive out of order.
    """

    def __init__(self, picture_px: tuple[int, int] = (640, 360)) -> None:
        self._picture_px = picture_px
        self._pictures = _Pictures()
        self._devtools: DevTools | None = None
        self._session_id = ""

    def start(self, devtools: DevTools, session_id: str, deadline: float) -> None:
        """Begin with the picture of the empty page."""
        self._devtools = devtools
        self._session_id = session_id
        width, height = self._picture_px
        parameters = {
            "format": "png",
            "everyNthFrame": 1,
            "maxFramesInFlight": FRAMES_IN_FLIGHT_MAX,
            "maxWidth": width,
            "maxHeight": height,
        }
        devtools.call("Page.startScreencast", parameters, session_id, deadline)

    def final_picture_matches(self, deadline: float) -> bool | None:
        """Start again, which gives the current picture in the same way, and compare."""
        if self._devtools is None or not self._pictures.count:
            return None
        before = self._pictures.last()
        self.stop(deadline)
        taken, self._pictures = self._pictures, _Pictures()
        self.start(self._devtools, self._session_id, deadline)
        while not self._pictures.count and self._devtools.pump(deadline):
            pass
        after, self._pictures = self._pictures.last(), taken
        return None if after is None else after == before

    def handle_event(self, method: str, parameters: JsonObject) -> bool:
        """Keep a frame and acknowledge it."""
        if method != "Page.screencastFrame" or self._devtools is None:
            return False
        self._devtools.send(
            "Page.screencastFrameAck", {"sessionId": parameters["sessionId"]}, self._session_id
        )
        at_s = parameters["metadata"].get("monotonicTimestamp")
        if at_s is None:
            raise BrowserStartError(
                "this Chromium gives frames no monotonic time; install version 156 or later"
            )
        return self._pictures.add(at_s, parameters["data"])

    def stop(self, deadline: float) -> None:
        """Stop capturing frames."""
        if self._devtools is not None:
            self._devtools.call("Page.stopScreencast", {}, self._session_id, deadline)

    def frames(self, navigation_start_s: float) -> tuple[Frame, ...]:
        """Return the frames by display time."""
        return self._pictures.frames(navigation_start_s)

    @property
    def started(self) -> bool:
        """The empty page was painted."""
        return self._pictures.count > 0

    @property
    def lost(self) -> int:
        """Frames beyond the memory set aside."""
        return self._pictures.lost


class TraceScreenshots:
    """Tracing's screenshots: JPEG of at most 500 x 500 pixels, no message while the page loads."""

    started = True

    def __init__(self) -> None:
        self._pictures = _Pictures()
        self._devtools: DevTools | None = None
        self._session_id = ""
        self._complete = False

    def start(self, devtools: DevTools, session_id: str, deadline: float) -> None:
        """Do nothing; only a trace of the page's own session holds screenshots."""
        self._devtools = devtools
        self._session_id = session_id
        configuration = {"includedCategories": [TRACE_CATEGORY], "excludedCategories": ["*"]}
        parameters = {"transferMode": "ReportEvents", "traceConfig": configuration}
        devtools.call("Tracing.start", parameters, session_id, deadline)

    def handle_event(self, method: str, parameters: JsonObject) -> bool:
        """Keep the pictures, all of which come after `stop` was called."""
        if method == "Tracing.dataCollected":
            for event in parameters["value"]:
                picture = event.get("args", {}).get("snapshot")
                if event.get("name") == "Screenshot" and picture and "ts" in event:
                    self._pictures.add(event["ts"] / 1e6, picture)
        elif method == "Tracing.tracingComplete":
            self._complete = True
        return False

    def stop(self, deadline: float) -> None:
        """End the trace and wait for its events."""
        if self._devtools is None:
            return
        self._devtools.call("Tracing.end", {}, self._session_id, deadline)
        while not self._complete and self._devtools.pump(deadline):
            pass

    def final_picture_matches(self, deadline: float) -> bool | None:
        """Return None: a trace is read after its end."""
        return None

    def frames(self, navigation_start_s: float) -> tuple[Frame, ...]:
        """Return the screenshots by their time in the trace."""
        return self._pictures.frames(navigation_start_s)

    @property
    def lost(self) -> int:
        """Screenshots beyond the memory set aside."""
        return self._pictures.lost


class NoCapture:
    """No pictures: the page's own times alone."""

    started = True
    lost = 0

    def start(self, devtools: DevTools, session_id: str, deadline: float) -> None:
        """Do nothing."""

    def handle_event(self, method: str, parameters: JsonObject) -> bool:
        """Return False: no event changes a picture."""
        return False

    def stop(self, deadline: float) -> None:
        """Do nothing."""

    def final_picture_matches(self, deadline: float) -> bool | None:
        """Return None."""
        return None

    def frames(self, navigation_start_s: float) -> tuple[Frame, ...]:
        """Return None."""
        return ()


def capture_of(settings: LoadSettings) -> FrameCapture:
    """Return the capture that takes the frames of a load."""
    if not settings.browser.capture:
        return NoCapture()
    if settings.method == "trace":
        return TraceScreenshots()
    return Screencast(settings.picture_px)


class _Pictures:
    """Pictures as base64 text with their monotonic times, decoded only after the load."""

    def __init__(self) -> None:
        self._pictures: list[tuple[float, str]] = []
        self._bytes = 0
        self.lost = 0

    @property
    def count(self) -> int:
        return len(self._pictures)

    def last(self) -> str | None:
        return max(self._pictures, key=lambda item: item[0])[1] if self._pictures else None

    def add(self, at_s: float, picture: str) -> bool:
        """Keep a picture; True if it differs from the one that came before."""
        changed = not self._pictures or self._pictures[-1][1] != picture
        if not changed and self._pictures[-1][0] <= at_s:
            return False
        if self._bytes + len(picture) > PICTURES_BYTES_MAX:
            self.lost += 1
            return changed
        self._pictures.append((at_s, picture))
        self._bytes += len(picture)
        return changed

    def frames(self, navigation_start_s: float) -> tuple[Frame, ...]:
        """Return frames on the page's clock; of those before the navigation only the last, at 0.

        The encoders are deterministic: equal pictures are equal texts.
        """
        kept: list[tuple[float, str]] = []
        for at_s, picture in sorted(self._pictures, key=lambda item: item[0]):
            at_ms = max(round((at_s - navigation_start_s) * 1e3, 3), 0.0)
            if at_ms == 0.0:
                kept.clear()
            if not kept or kept[-1][1] != picture:
                kept.append((at_ms, picture))
        frames = []
        for at_ms, picture in kept:
            try:
                frames.append(Frame(at_ms, bytes_of(picture)))
            except BrowserMessageError:
                self.lost += 1
        return tuple(frames)
