"""Pictures of the loading page: three ways to take them behind one interface.

`docs/decisions/0010-frame-capture.md` says which is the default and what was measured.
"""

from __future__ import annotations

import base64
from typing import Any, Protocol

from eyelevel.browser.devtools import DevTools
from eyelevel.browser.errors import BrowserStartError
from eyelevel.browser.observations import Capture, Frame

FRAMES_IN_FLIGHT_MAX = 120
"""Frames that Chromium may send unacknowledged. Its default of 3 loses a frame whenever this process
is late for 50 ms, the last one of a load included; two seconds of frames cannot be outrun."""

TRACE_CATEGORY = "disabled-by-default-devtools.screenshot"

TRACE_END_TIMEOUT_S = 10.0


class FrameCapture(Protocol):
    """Takes pictures from `start` to `stop`."""

    def start(self, devtools: DevTools, session_id: str, deadline: float) -> None:
        """Begin; returns when the first picture can be taken."""

    def handle_event(self, method: str, parameters: dict[str, Any]) -> bool:
        """Take one event of the page's session; True where the picture changed."""

    def stop(self, deadline: float) -> None:
        """End; afterwards `frames` is complete."""

    def frames(self, navigation_start_s: float) -> tuple[Frame, ...]:
        """The pictures, each unlike the one before it; the start's picture is at 0."""

    @property
    def dropped(self) -> int:
        """Pictures that were equal to the one before."""


class Screencast:
    """`Page.startScreencast` with PNG: full size, lossless, on damage only.

    A frame's `monotonicTimestamp` is its expected display time in CLOCK_MONOTONIC seconds.
    """

    def __init__(self) -> None:
        self._pictures: list[tuple[float, str]] = []
        self._devtools: DevTools | None = None
        self._session_id = ""
        self.dropped = 0

    def start(self, devtools: DevTools, session_id: str, deadline: float) -> None:
        self._devtools = devtools
        self._session_id = session_id
        devtools.call(
            "Page.startScreencast",
            {"format": "png", "everyNthFrame": 1, "maxFramesInFlight": FRAMES_IN_FLIGHT_MAX},
            session_id,
            deadline,
        )

    def handle_event(self, method: str, parameters: dict[str, Any]) -> bool:
        if method != "Page.screencastFrame" or self._devtools is None:
            return False
        self._devtools.send(
            "Page.screencastFrameAck", {"sessionId": parameters["sessionId"]}, self._session_id
        )
        at_s = parameters["metadata"].get("monotonicTimestamp")
        if at_s is None:
            raise BrowserStartError(
                "this Chromium gives frames no monotonic time; version 156 or later is needed"
            )
        return self._keep(at_s, parameters["data"])

    def _keep(self, at_s: float, picture: str) -> bool:
        # The encoder is deterministic: equal pictures are equal texts.
        if self._pictures and self._pictures[-1][1] == picture:
            self.dropped += 1
            return False
        self._pictures.append((at_s, picture))
        return True

    def stop(self, deadline: float) -> None:
        if self._devtools is not None:
            self._devtools.call("Page.stopScreencast", {}, self._session_id, deadline)

    def frames(self, navigation_start_s: float) -> tuple[Frame, ...]:
        return _frames_from(self._pictures, navigation_start_s)


class TraceScreenshots:
    """Tracing's screenshots: JPEG of at most 500 x 500 pixels, no message while the page loads."""

    def __init__(self) -> None:
        self._pictures: list[tuple[float, str]] = []
        self._devtools: DevTools | None = None
        self._session_id = ""
        self._complete = False
        self.dropped = 0

    def start(self, devtools: DevTools, session_id: str, deadline: float) -> None:
        self._devtools = devtools
        self._session_id = session_id
        configuration = {"includedCategories": [TRACE_CATEGORY], "excludedCategories": ["*"]}
        # Only a trace of the page's own session holds screenshots.
        devtools.call(
            "Tracing.start",
            {"transferMode": "ReportEvents", "traceConfig": configuration},
            session_id,
            deadline,
        )

    def handle_event(self, method: str, parameters: dict[str, Any]) -> bool:
        if method == "Tracing.dataCollected":
            for event in parameters["value"]:
                if event.get("name") == "Screenshot":
                    self._keep(event["ts"] / 1e6, event["args"]["snapshot"])
        elif method == "Tracing.tracingComplete":
            self._complete = True
        return False

    def _keep(self, at_s: float, picture: str) -> None:
        if self._pictures and self._pictures[-1][1] == picture:
            self.dropped += 1
        else:
            self._pictures.append((at_s, picture))

    def stop(self, deadline: float) -> None:
        if self._devtools is None:
            return
        self._devtools.call("Tracing.end", {}, self._session_id, deadline)
        while not self._complete and self._devtools.pump(deadline):
            pass

    def frames(self, navigation_start_s: float) -> tuple[Frame, ...]:
        return _frames_from(sorted(self._pictures), navigation_start_s)


class NoCapture:
    """No pictures: the page's own times alone."""

    dropped = 0

    def start(self, devtools: DevTools, session_id: str, deadline: float) -> None:
        pass

    def handle_event(self, method: str, parameters: dict[str, Any]) -> bool:
        return False

    def stop(self, deadline: float) -> None:
        pass

    def frames(self, navigation_start_s: float) -> tuple[Frame, ...]:
        return ()


CAPTURES: dict[Capture, type[FrameCapture]] = {
    "screencast": Screencast,
    "trace": TraceScreenshots,
    "none": NoCapture,
}
"""The ways to capture, by the setting's value."""


def _frames_from(
    pictures: list[tuple[float, str]], navigation_start_s: float
) -> tuple[Frame, ...]:
    """Frames on the page's clock; of those before the navigation only the last, at 0."""
    frames: list[Frame] = []
    for at_s, picture in pictures:
        at_ms = max(round((at_s - navigation_start_s) * 1e3, 3), 0.0)
        if frames and at_ms == 0.0:
            frames.clear()
        frames.append(Frame(at_ms, base64.b64decode(picture)))
    return tuple(frames)
