"""Chromium's own logs of a load, on request: its network log and its trace.

They serve to look into a load and cost it time: a plan that asks for them has trials of their own
identity.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import stat
import time
from pathlib import Path

from eyelevel.browser.chromium.devtools import DevTools
from eyelevel.browser.chromium.process import Chromium
from eyelevel.browser.messages import bytes_of
from eyelevel.browser.observations import LoadSettings
from eyelevel.errors import BrowserError
from eyelevel.json_types import JsonObject

NETLOG_FILE = "netlog.json.gz"
TRACE_FILE = "trace.json.gz"
"""Names beside the record."""

LOG_BYTES_MAX = 256 << 20
"""Bytes kept of one log; a load of a minute has a hundredth of them."""

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
"""The trace categories that DevTools' performance panel records, and the network's events."""


def netlog_arguments(profile: Path) -> list[str]:
    """Chromium's arguments that write the network log."""
    return [f"--log-net-log={profile / 'netlog.json'}", "--net-log-capture-mode=Default"]


def read_netlog(profile: Path) -> bytes:
    """Return the network log, compressed; empty if Chromium wrote none.

    A browser that did not end by itself leaves the log without its end, which is added.
    """
    try:
        text = _read_strangers(profile / "netlog.json")
    except OSError:
        return b""
    return gzip.compress(with_its_end(text), 6, mtime=0)


def _read_strangers(path: Path) -> bytes:
    """Return a file of the browser's own folder, in which it may have laid a link or a pipe."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        return file.read(LOG_BYTES_MAX)


def with_its_end(text: bytes) -> bytes:
    """Return a network log as whole JSON: cut after its last whole event if it was broken off."""
    try:
        json.loads(text)
    except ValueError:
        events, _, _ = text.rpartition(b",\n")
        return events.removesuffix(b"]") + b"]}\n"
    return text


class Logs:
    """The logs that the settings ask for: `start` before the navigation, then `collect`."""

    def __init__(self, settings: LoadSettings) -> None:
        self._settings = settings
        self._trace = Trace()

    def start(self, devtools: DevTools, deadline: float) -> None:
        """The network log runs from the browser's start on."""
        if self._settings.browser.trace:
            self._trace.start(devtools, deadline)

    def handle_event(self, method: str, parameters: JsonObject) -> None:
        """Take one event of any session."""
        self._trace.handle_event(method, parameters)

    def collect(self, devtools: DevTools, browser: Chromium) -> dict[str, bytes]:
        """Return the logs by file name; the browser is closed first if it writes a network log.

        A log that cannot be read is absent: it says nothing about the load.
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
    """One trace of the whole browser, as its performance panel imports it."""

    def __init__(self) -> None:
        self._stream = ""

    def start(self, devtools: DevTools, deadline: float) -> None:
        """Start logging; raises the errors of `DevTools.call`."""
        configuration = {"includedCategories": list(TRACE_CATEGORIES), "excludedCategories": ["*"]}
        parameters = {
            "transferMode": "ReturnAsStream",
            "streamFormat": "json",
            "streamCompression": "gzip",
            "traceConfig": configuration,
        }
        devtools.call("Tracing.start", parameters, "", deadline)

    def handle_event(self, method: str, parameters: JsonObject) -> None:
        """Take one event of any session."""
        if method == "Tracing.tracingComplete":
            self._stream = parameters.get("stream", "")

    def stop(self, devtools: DevTools, deadline: float) -> bytes:
        """End the trace and return it, compressed; empty if it did not come in time."""
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
