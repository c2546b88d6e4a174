"""Frames from screencast and trace events."""

import base64
from typing import Any

from eyelevel.browser.chromium import capture as capture_module
from eyelevel.browser.chromium.capture import Screencast, TraceScreenshots


class Commands:
    """Stands in for DevTools: keeps what was sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []

    def call(self, method: str, parameters: dict, session_id: str, deadline: float) -> dict:
        self.sent.append((method, parameters))
        return {}

    def send(self, method: str, parameters: dict, session_id: str) -> int:
        self.sent.append((method, parameters))
        return 1


def text(picture: bytes) -> str:
    return base64.b64encode(picture).decode()


def screencast(*frames: tuple[float, bytes]) -> tuple[Screencast, list[bool], Commands]:
    capture, commands = Screencast(), Commands()
    capture.start(commands, "page", 0.0)
    changed = [
        capture.handle_event(
            "Page.screencastFrame",
            {"sessionId": number, "data": text(data), "metadata": {"monotonicTimestamp": at_s}},
        )
        for number, (at_s, data) in enumerate(frames)
    ]
    return capture, changed, commands


def shown(capture: Screencast | TraceScreenshots) -> list[tuple[float, bytes]]:
    return [(frame.at_ms, frame.image) for frame in capture.frames(1000.0)]


def test_frames_before_the_navigation_are_the_start_state():
    capture, _, _ = screencast((998.0, b"old"), (999.0, b"white"), (1000.5, b"page"))
    assert shown(capture) == [(0.0, b"white"), (500.0, b"page")]


def test_repeated_pictures_are_no_change():
    capture, changed, _ = screencast((999.0, b"a"), (1000.1, b"a"), (1000.2, b"b"), (1000.3, b"b"))
    assert changed == [True, False, True, False]
    assert shown(capture) == [(0.0, b"a"), (200.0, b"b")]


def test_frames_that_arrive_out_of_order_are_sorted():
    capture, _, _ = screencast((999.0, b"w"), (1000.4, b"c"), (1000.2, b"b"), (1000.6, b"d"))
    assert shown(capture) == [(0.0, b"w"), (200.0, b"b"), (400.0, b"c"), (600.0, b"d")]


def test_an_earlier_copy_that_arrives_late_moves_the_change():
    capture, _, _ = screencast((999.0, b"w"), (1000.4, b"b"), (1000.2, b"b"))
    assert shown(capture) == [(0.0, b"w"), (200.0, b"b")]


def test_every_frame_is_acknowledged():
    _, _, commands = screencast((999.0, b"a"), (1000.0, b"a"))
    acknowledged = [p["sessionId"] for m, p in commands.sent if m == "Page.screencastFrameAck"]
    assert acknowledged == [0, 1]


def test_frames_beyond_the_memory_set_aside_are_counted(monkeypatch):
    monkeypatch.setattr(capture_module, "PICTURES_BYTES_MAX", 16)
    capture, _, _ = screencast((999.0, b"aaaaaa"), (1000.1, b"bbbbbb"), (1000.2, b"cccccc"))
    assert capture.lost == 1
    assert len(shown(capture)) == 2


def test_trace_screenshots_are_on_the_same_clock():
    capture = TraceScreenshots()
    events = [
        {"name": "Screenshot", "ts": 1_000_250_000, "args": {"snapshot": text(b"b")}},
        {"name": "Screenshot", "ts": 999_000_000, "args": {"snapshot": text(b"a")}},
        {"name": "other", "ts": 1},
    ]
    assert not capture.handle_event("Tracing.dataCollected", {"value": events})
    assert shown(capture) == [(0.0, b"a"), (250.0, b"b")]
