"""The observations of one load of one page: raw, in milliseconds from navigation start, nothing
derived.

Time zero is the navigation start of the first document (`performance.timeOrigin`), even if
the page then redirects itself by script to another document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from eyelevel.browser.same_requests import SameRequests
from eyelevel.json_types import JsonObject
from eyelevel.plan.browser import Browser
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import Stack

REQUESTS_MAX = 20_000
"""The most requests kept of one load, including steps after it."""

REQUEST_CHARS_MAX = 64 << 20
"""Characters of all their URLs."""

LOCAL_SCHEMES = ("data:", "blob:", "about:", "chrome:", "chrome-error:", "filesystem:")
"""URLs that never reach the network."""

UNDECODABLE = ("net::ERR_CONTENT_DECODING_", "contentEncodingError")
"""Prefixes of Chromium's and Firefox's errors for a body that is not of its `Content-Encoding`."""


CaptureMethod = Literal["screencast", "trace"]
LoadEnd = Literal["complete", "timeout", "navigation-failed", "browser-crashed"]
Source = Literal["network", "cache", "service-worker", "data"]


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """One load: what to open and how to observe it."""

    url: str
    stack: Stack = STACKS_BY_NAME["tcp"]
    """The stack in force; the browser uses its protocols and settings."""
    browser: Browser = Browser()  # noqa: RUF009 (frozen)
    """The browser settings in force."""
    quic_origins: tuple[str, ...] = ()
    """`host:port` of every origin that must be reached by QUIC; used with `h3` only."""
    own_hosts: tuple[tuple[str, str], ...] = ()
    """Hosts that the browser asks no resolver for, and the addresses to take them to; Chromium."""
    spki_sha256: str | None = None
    """Base64 of the SHA-256 of the one public key to trust."""
    ca_certificate: str | None = None
    """PEM of the authority to trust, if a key alone cannot be trusted (Firefox)."""
    command_prefix: tuple[str, ...] = ()
    """Put before the browser's command; passes on descriptors 3 and 4, stays in the session."""
    cores: tuple[int, ...] | None = None
    """The cores of the browser's helpers outside of `command_prefix`; None for all cores."""
    viewport_px: tuple[int, int] = (1280, 720)
    method: CaptureMethod = "screencast"
    """The method of capturing frames, if they are captured."""
    picture_px: tuple[int, int] = (640, 360)
    """Largest size of a screencast's frames; the compositor scales the page down to it. Half the
    viewport costs a load a third of what full size does (docs/decisions/0007-frame-capture.md)."""
    same_page: SameRequests | None = None
    """Hold the page's date and randomness, so that every load asks for the same URLs."""
    as_recorded: bool = False
    """For replays: request over http what was recorded over http, without upgrades."""
    proxy: str | None = None
    """`host:port` of an HTTP proxy for everything, loopback included; for recording."""
    between_visits: Callable[[], None] = lambda: None
    """Called between the visits, when the first one's pages are gone."""
    when_over: Callable[[RawLoad], None] = lambda _: None
    """Called when all was observed; what it does may take place while the browser ends."""
    mobile: bool = False
    """Pose as a mobile browser: touch, a mobile viewport and user agent."""
    device_scale: float = 1.0
    """Device pixels a CSS pixel (`devicePixelRatio`)."""
    device_model: str = ""
    """The phone model in client hints."""
    user_agent: str | None = None
    """Instead of the browser's own."""
    screenshot: bool = False
    """Take a picture of the viewport at the load's end, full size."""
    quiet_s: float = 1.0
    """The load ends when nothing was requested or painted for so long after the load event."""
    cap_s: float = 10.0
    """The load ends at the latest so long after the load event."""


@dataclass(frozen=True, slots=True)
class Navigation:
    """Milestones from navigation start, milliseconds; None if one did not happen."""

    page_load_time_ms: float | None = None
    time_to_first_byte_ms: float | None = None
    first_contentful_paint_ms: float | None = None
    """Presentation time from the lifecycle event; the page itself gets it rounded to 4 ms."""
    dom_content_loaded_ms: float | None = None
    first_paint_ms: float | None = None
    largest_contentful_paint_ms: float | None = None
    largest_contentful_paint_element: str | None = None
    largest_contentful_paint_url: str | None = None
    """The URL of its image as the page requested it; None for text, which needs none."""
    largest_contentful_paint_loaded_ms: float | None = None
    """The time when the page had loaded that image, before it was painted."""
    cumulative_layout_shift: float | None = None
    long_tasks_ms: tuple[tuple[float, float], ...] | None = ()
    """Start and duration of each task above 50 ms; None: the browser does not tell."""
    timer_gaps_ms: tuple[tuple[float, float], ...] = ()
    """Start and length of each time above 50 ms in which the page's timer of 20 ms did not run."""
    documents: int = 1
    """Documents that the main frame showed; more than one if the page redirected by script."""

    def of(self, ended: LoadEnd) -> Navigation:
        """Return the timings of a load that ended this way. After a timeout there is no load time:
        a page that goes on to further documents may finish one between the limit and reading the
        timings."""
        return replace(self, page_load_time_ms=None) if ended == "timeout" else self

    def as_record(self) -> JsonObject:
        """Return the record's `navigation`."""
        return {name: getattr(self, name) for name in self.__slots__}


Fields = tuple[tuple[str, str], ...]
"""Header fields by name and value, in the order in which the browser reports them."""


@dataclass(frozen=True, slots=True)
class Message:
    """A request and its response without their timing: fields, sizes, a short request body."""

    request_fields: Fields = ()
    request_body: str | None = None
    """Text that was sent; None: there was none, or the browser does not report it."""
    status_text: str = ""
    response_fields: Fields = ()
    response_head_bytes: int | None = None
    """Bytes of the response's head as received; None if that is unknown."""
    content_bytes: int | None = None
    """Bytes of the response's body after content decoding; None if that is unknown."""

    def as_json(self) -> JsonObject:
        """Return one entry of the file of messages."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class ObjectLoad:
    """One request and its response; each hop of a redirect is one of its own."""

    url: str
    method: str
    resource_type: str
    protocol: str | None
    status: int | None
    started_ms: float
    """The time when the page requested it, before any queueing inside the browser."""
    lookup_ms: tuple[float, float] | None
    """Start and end of the DNS lookup that it waited for."""
    connect_ms: tuple[float, float] | None
    """Start and end of the connection's opening, TLS included; None on one that was open."""
    tls_ms: tuple[float, float] | None
    """Start and end of the TLS handshake; QUIC's is the whole opening."""
    sending_ms: float | None
    """The time when its sending began."""
    sent_ms: float | None
    """The time when the request had been sent."""
    response_ms: float | None
    """The time when the first byte of the response's head arrived."""
    finished_ms: float | None
    """The time when the last byte of the body arrived, or when it failed; None while still
    loading."""
    encoded_bytes: int
    """Bytes received, head included, before content decoding."""
    source: Source
    render_blocking: str | None
    """DevTools' name: Blocking, InBodyParserBlocking, NonBlocking, NonBlockingDynamic, ..."""
    in_main_frame: bool | None
    """Whether the page itself requested it, not a frame in it; None if that is unknown."""
    initiator_type: str | None
    """DevTools' name: parser (markup or a style sheet), script, preload, other, ..."""
    mime_type: str | None
    priority: str | None
    """Chromium's priority when it was asked for: VeryLow to VeryHigh."""
    connection: int | None
    address: str | None
    failed: str | None
    """Text of the error; None if it did not fail."""
    message: Message | None = None
    """The message's fields, which are stored beside the record; None: not reported."""

    def as_record(self) -> JsonObject:
        """Return the object as an entry of the record's `objects`."""
        left_out = ("source", "message")
        record = {name: getattr(self, name) for name in self.__slots__ if name not in left_out}
        record["from"] = self.source
        return record


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of the viewport, from the moment of its display on."""

    at_ms: float
    """Display time; 0 for what was there before the navigation."""
    image: bytes
    """PNG (screencast) or JPEG (trace), as the browser encoded it."""


@dataclass(frozen=True, slots=True)
class StepLoad:
    """The observations of one step after the load; all times from navigation start."""

    step: str
    started_ms: float
    """The time when its input was sent: the step's own time zero."""
    ended_ms: float
    """The time when the driver went on, after the quiet second."""
    begun_ms: float = 0.0
    """The time when the preparation of its input began: a click's element is scrolled into view."""
    documents: int = 0
    """Documents that it opened in the main frame."""
    load_event_ms: float | None = None
    first_contentful_paint_ms: float | None = None
    """The first contentful paint of the document that it opened."""
    capped: bool = False
    final_picture_matches: bool | None = None
    failed: str | None = None
    objects: tuple[ObjectLoad, ...] = ()
    frames: tuple[Frame, ...] = ()
    """The first is what was there when the step began."""

    def as_record(self) -> JsonObject:
        """Return the step as an entry of the record's `after_load`, without its frames."""
        left_out = ("frames", "begun_ms")
        fields = {name: getattr(self, name) for name in self.__slots__ if name not in left_out}
        return {**fields, "objects": [item.as_record() for item in self.objects]}


@dataclass(frozen=True, slots=True)
class RawLoad:
    """All observations of one load."""

    ended: LoadEnd
    detail: str
    """One sentence; empty for `complete`."""
    navigation: Navigation = field(default_factory=Navigation)
    objects: tuple[ObjectLoad, ...] = ()
    frames: tuple[Frame, ...] = ()
    console_errors: tuple[str, ...] = ()
    initiators: Mapping[str, str] = field(default_factory=dict)
    """The URL of the document, style sheet or script that asked first, by the URL asked for."""
    browser_version: str = ""
    capped: bool = False
    """The page was still busy when the cap after its load event ended the load."""
    settled: bool = True
    """The browser was idle before the navigation."""
    navigation_start_ns: int | None = None
    """Time zero, CLOCK_MONOTONIC; None if there was no navigation."""
    frames_lost: int = 0
    """Frames that could not be kept; above 0 the visual metrics of this load are worth nothing."""
    requests_lost: int = 0
    """Requests beyond those that are kept; above 0 the objects are not all."""
    console_dropped: int = 0
    """Messages about the page's console that were too many to be read; Chromium."""
    timings_refused: str = ""
    """Why the page's own timings are not to be believed, and are absent; empty if they are."""
    ended_on: str = ""
    """The URL of the document that the page ended on, if no server gave that one (`about:blank`):
    its times are not the page's, and are absent."""
    timing_differences_ms: Mapping[str, float] = field(default_factory=dict)
    """The differences between the page's own timings and the browser's events, by `Navigation`'s
    names; what only one of them reports is absent."""
    effective_connection_type: str | None = None
    """The kind of network that Chromium assumed at the end of the load; None if unknown, or for
    Firefox."""
    final_picture_matches: bool | None = None
    """Whether a picture taken at the end equals the last frame, bit by bit. False: a frame is
    missing. None: not taken, or the page was moving, so that nothing can be said."""
    screenshot: bytes = b""
    """PNG of the viewport at the end; empty if none was asked for or could be taken."""
    after_load: tuple[StepLoad, ...] = ()
    logs: Mapping[str, bytes] = field(default_factory=dict)
    """The browser's own logs that were asked for, compressed, by the name of their file."""
    filmed: bool = False
    """The frames are a film of the screen, 30 a second, not the browser's own."""
    suspended: tuple[str, ...] = ()
    """The programs of the load, besides the browser, that were suspended during it."""
    cpu_s: float = 0.0
    """CPU time of all processes of the browser, from its start."""
    start_cpu_s: float = 0.0
    """How much of it was before the navigation."""
    wall_ms: Mapping[str, float] = field(default_factory=dict)
    """Wall time of each phase: `start` (process), `open` (empty page), `settle`, `load` (navigation
    to load event), `quiet` (to the end of the load), `collect`, `end` (teardown), and `total`."""

    def as_record(self) -> JsonObject:
        """Return the record's keys `navigation`, `objects` and `frames`, and the browser's own."""
        return {
            "navigation": self.navigation.as_record(),
            "objects": [item.as_record() for item in self.objects],
            "frames": [
                {"at_ms": frame.at_ms, "index": index} for index, frame in enumerate(self.frames)
            ],
            "browser": {
                "console_errors": list(self.console_errors),
                "capped": self.capped,
                "settled": self.settled,
                "navigation_start_ns": self.navigation_start_ns,
                "frames_lost": self.frames_lost,
                **({"console_dropped": self.console_dropped} if self.console_dropped else {}),
                "timing_differences_ms": dict(self.timing_differences_ms),
                "effective_connection_type": self.effective_connection_type,
                "final_picture_matches": self.final_picture_matches,
                **({"filmed": True} if self.filmed else {}),
                "cpu_s": self.cpu_s,
                "start_cpu_s": self.start_cpu_s,
                "wall_ms": dict(self.wall_ms),
            },
        }
