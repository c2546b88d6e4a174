"""Chromium's own logs of a load, on request: its network log and its trace.

They are for debugging and slow the load down, so a plan with logs has other trial hashes.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import stat
import time
from pathlib import Path

from eyelevel.base.errors import BrowserError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.chromium.devtools import DevTools
from eyelevel.browser.chromium.process import Chromium
from eyelevel.browser.messages import bytes_of
from eyelevel.browser.observations import LoadSettings

NETLOG_FILE = "netlog.json.gz"
TRACE_FILE = "trace.json.gz"
"""File name of the trace, next to the record."""

LOG_BYTES_MAX = 256 << 20
"""Maximum bytes kept of one log; a load of a minute has a hundredth of that."""

READ_BYTES = 1 << 20
TIMEOUT_S = 30.0
CLOSE_TIMEOUT_S = 3.0

TRACE_CATEGORIES = (
    "devtools.timeline",
    "disabled-by-default-devtools.timeline",
    "disabled-by-default-devtools.timeline.frame",
    "blink.user_timing",
    "latencyInfo",
    "loading",
    "netlog",
    "toplevel",
    "v8.execute",
)
"""Trace categories of DevTools' performance panel, plus network events."""


def netlog_arguments(profile: Path) -> list[str]:
    """Return the arguments that make Chromium write its network log."""
    return [f"--log-net-log={profile / 'netlog.json'}", "--net-log-capture-mode=Default"]


def read_netlog(profile: Path) -> bytes:
    """Return the network log, gzip-compressed, or b"" if there is none.

    A log that the browser could not finish is completed to valid JSON.
    """
    try:
        text = _read_strangers(profile / "netlog.json")
    except OSError:
        return b""
    return gzip.compress(with_its_end(text), 6, mtime=0)


def _read_strangers(path: Path) -> bytes:
    """Read a file of the browser's folder without following links or pipes placed there."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        return file.read(LOG_BYTES_MAX)


def with_its_end(text: bytes) -> bytes:
    """Return a network log as complete JSON, cut after its last full event if truncated."""
    try:
        json.loads(text)
    except ValueError:
        events, _, _ = text.rpartition(b",\n")
        return events.removesuffix(b"]") + b"]}\n"
    return text


class Logs:
    """Collects the logs that the settings request: `start` before navigation, then `collect`."""

    def __init__(self, settings: LoadSettings) -> None:
        self._settings = settings
        self._trace = Trace()

    def start(self, devtools: DevTools, deadline: float) -> None:
        """Start the trace if requested; the network log is written from the browser's start on."""
        if self._settings.browser.trace:
            self._trace.start(devtools, deadline)

    def handle_event(self, method: str, parameters: JsonObject) -> None:
        """Handle one event of any session."""
        self._trace.handle_event(method, parameters)

    def collect(self, devtools: DevTools, browser: Chromium) -> dict[str, bytes]:
        """Return the logs by file name; closes the browser first if it writes a network log.

        A log that cannot be read is left out: that says nothing about the load.
        """
        logs: dict[str, bytes] = {}
        deadline = time.monotonic() + TIMEOUT_S
        with contextlib.suppress(BrowserError):
            if self._settings.browser.trace:
                logs[TRACE_FILE] = self._trace.stop(devtools, deadline)
        if self._settings.browser.netlog:
            with contextlib.suppress(BrowserError):
                devtools.send("Browser.close")
            if browser.session is not None:
                browser.session.wait(CLOSE_TIMEOUT_S)
            logs[NETLOG_FILE] = read_netlog(browser.profile)
        return {name: log for name, log in logs.items() if log}


class Trace:
    """Records one trace of the browser, in the format that its performance panel imports."""

    def __init__(self) -> None:
        self._stream = ""

    def start(self, devtools: DevTools, deadline: float) -> None:
        """Start tracing; raises the errors of `DevTools.call`."""
        configuration = {"includedCategories": list(TRACE_CATEGORIES), "excludedCategories": ["*"]}
        parameters = {
            "transferMode": "ReturnAsStream",
            "streamFormat": "json",
            "streamCompression": "gzip",
            "traceConfig": configuration,
        }
        devtools.call("Tracing.start", parameters, "", deadline)

    def handle_event(self, method: str, parameters: JsonObject) -> None:
        """Handle one event of any session."""
        if method == "Tracing.tracingComplete":
            self._stream = parameters.get("stream", "")

    def stop(self, devtools: DevTools, deadline: float) -> bytes:
        """End the trace and return it, gzip-compressed; b"" if it did not arrive in time."""
        devtools.call("Tracing.end", {}, "", deadline)
        while not self._stream:
            if not devtools.pump(deadline):
                return b""
        trace = bytearray()
        while len(trace) < LOG_BYTES_MAX:
            parameters = {"handle": self._stream, "size": READ_BYTES}
            part = devtools.call("IO.read", parameters, "", deadline)
            data = part["data"]
            trace += bytes_of(data) if part.get("base64Encoded") else data.encode()
            if part["eof"]:
                break
        return bytes(trace)
