"""Frames of the loading page: three capture methods behind one interface.

`docs/decisions/0007-frame-capture.md` gives the default and the measurements behind it.
"""

from __future__ import annotations

from typing import Protocol

from eyelevel.base.errors import BrowserMessageError, BrowserStartError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.chromium.devtools import DevTools
from eyelevel.browser.messages import bytes_of
from eyelevel.browser.observations import Frame, LoadSettings

FRAMES_IN_FLIGHT_MAX = 120
"""Frames that Chromium may send unacknowledged. With its default of 3 a frame is lost, possibly
the load's last one, whenever this process is 50 ms late; 120 covers two seconds.
"""

PICTURES_BYTES_MAX = 1 << 30
"""Maximum bytes of frames held for one load, so that an endless animation cannot fill the
memory.
"""

TRACE_CATEGORY = "disabled-by-default-devtools.screenshot"


class FrameCapture(Protocol):
    """Captures frames from `start` to `stop`."""

    def start(self, devtools: DevTools, session_id: str, deadline: float) -> None:
        """Start capturing; returns once the first frame can be captured."""

    def handle_event(self, method: str, parameters: JsonObject) -> bool:
        """Handle one event of the page's session; returns whether the displayed frame changed."""

    def stop(self, deadline: float) -> None:
        """Stop capturing; afterwards `frames` is complete."""

    def frames(self, navigation_start_s: float) -> tuple[Frame, ...]:
        """Return the frames, each different from the one before; the start state is at 0 ms."""

    def final_picture_matches(self, deadline: float) -> bool | None:
        """Return whether a new capture equals the last frame; None if none can be taken."""

    @property
    def started(self) -> bool:
        """Whether the frame of the empty page has arrived, or none is expected."""

    @property
    def lost(self) -> int:
        """Number of frames dropped because `PICTURES_BYTES_MAX` was reached."""


class Screencast:
    """Captures PNG frames by `Page.startScreencast`: lossless, and only when the page is damaged.

    A frame's `monotonicTimestamp` is its expected display time in CLOCK_MONOTONIC seconds. Frames
    are encoded in parallel and may arrive out of order.
    """

    def __init__(self, picture_px: tuple[int, int] = (640, 360)) -> None:
        self._picture_px = picture_px
        self._pictures = _Pictures()
        self._devtools: DevTools | None = None
        self._session_id = ""

    def start(self, devtools: DevTools, session_id: str, deadline: float) -> None:
        """Start the screencast; its first frame is the empty page."""
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
        """Restart the screencast, which captures the current frame the same way, and compare."""
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
        """Store a frame and acknowledge it."""
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
        """Return the frames in order of display time."""
        return self._pictures.frames(navigation_start_s)

    @property
    def started(self) -> bool:
        """Whether the empty page was painted."""
        return self._pictures.count > 0

    @property
    def lost(self) -> int:
        """Number of frames dropped because `PICTURES_BYTES_MAX` was reached."""
        return self._pictures.lost


class TraceScreenshots:
    """Captures frames by tracing: JPEG, at most 500 x 500 pixels, no messages during the load."""

    started = True

    def __init__(self) -> None:
        self._pictures = _Pictures()
        self._devtools: DevTools | None = None
        self._session_id = ""
        self._complete = False

    def start(self, devtools: DevTools, session_id: str, deadline: float) -> None:
        """Start tracing in the page's session: only such a trace contains screenshots."""
        self._devtools = devtools
        self._session_id = session_id
        configuration = {"includedCategories": [TRACE_CATEGORY], "excludedCategories": ["*"]}
        parameters = {"transferMode": "ReportEvents", "traceConfig": configuration}
        devtools.call("Tracing.start", parameters, session_id, deadline)

    def handle_event(self, method: str, parameters: JsonObject) -> bool:
        """Store the frames, all of which arrive after `stop` was called."""
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
        """Return None: a trace can only be read after it ended."""
        return None

    def frames(self, navigation_start_s: float) -> tuple[Frame, ...]:
        """Return the frames in order of trace time."""
        return self._pictures.frames(navigation_start_s)

    @property
    def lost(self) -> int:
        """Number of frames dropped because `PICTURES_BYTES_MAX` was reached."""
        return self._pictures.lost


class NoCapture:
    """Captures no frames; the load has the page's own timings only."""

    started = True
    lost = 0

    def start(self, devtools: DevTools, session_id: str, deadline: float) -> None:
        """Do nothing."""

    def handle_event(self, method: str, parameters: JsonObject) -> bool:
        """Return False: no frame ever changes."""
        return False

    def stop(self, deadline: float) -> None:
        """Do nothing."""

    def final_picture_matches(self, deadline: float) -> bool | None:
        """Return None."""
        return None

    def frames(self, navigation_start_s: float) -> tuple[Frame, ...]:
        """Return an empty tuple."""
        return ()


def capture_of(settings: LoadSettings) -> FrameCapture:
    """Return the frame capture that the settings select."""
    if not settings.browser.capture:
        return NoCapture()
    if settings.method == "trace":
        return TraceScreenshots()
    return Screencast(settings.picture_px)


class _Pictures:
    """Frames as base64 text with monotonic times; they are decoded after the load."""

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
        """Store a frame unless it repeats the previous one.

        Returns whether it differs from that.
        """
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
        """Return the decoded frames on the page's clock.

        Of the frames before navigation the last is kept, at 0 ms.

        The encoders are deterministic, so equal images have equal text.
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
